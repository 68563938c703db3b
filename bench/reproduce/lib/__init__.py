"""What the commands of this folder share."""
