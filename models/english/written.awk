# Sentences that we wrote (written.txt, names.txt) as CoNLL-U. `-v mark=newdoc`: what an empty line ends, a paragraph (newpar) if nothing is said.
BEGIN { OFS = "\t"; fresh = 1 }
/^# / { next }
NF == 0 { fresh = 1; next }
{
    if (fresh) print "# " (mark ? mark : "newpar")
    fresh = count = 0
    label = ""
    for (i = 1; i <= NF; i++) {
        if ($i ~ /^\[(PER|LOC|ORG)$/) { label = "B-" substr($i, 2); continue }
        form[++count] = $i
        if (label && (ends = $i ~ /\]$/)) form[count] = substr($i, 1, length($i) - 1)
        touches[count] = sub(/^\+/, "", form[count]) && form[count] != "" || !(form[count] = form[count] == "" ? "+" : form[count])
        name[count] = label
        label = label && !ends ? "I-" substr(label, 3) : ""
    }
    for (i = 1; i <= count; i++) {
        misc = (i < count && touches[i + 1] ? "SpaceAfter=No" : "") (i < count && touches[i + 1] && name[i] ? "|" : "") (name[i] ? "NER=" name[i] : "")
        print i, form[i], "_", "_", "_", "_", "_", "_", "_", misc == "" ? "_" : misc
    }
    print ""
}
