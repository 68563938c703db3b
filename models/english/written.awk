# The sentences of written.txt as CoNLL-U.
BEGIN { OFS = "\t"; fresh = 1 }
/^# / { next }
NF == 0 { fresh = 1; next }
{
    if (fresh) print "# newpar"
    fresh = 0
    for (i = 1; i <= NF; i++) {
        form = $i ~ /^\+./ ? substr($i, 2) : $i
        print i, form, "_", "_", "_", "_", "_", "_", "_", (i < NF && $(i + 1) ~ /^\+./ ? "SpaceAfter=No" : "_")
    }
    print ""
}
