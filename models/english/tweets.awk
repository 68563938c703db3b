# Posts with hashtags or handles from columns, as CoNLL-U for the segmenter: those of plain words alone, of which every tokenizer makes the same, in
# one sentence.
function flush(   plain, tagged, i) {
    plain = count > 3
    for (i = 1; i <= count; i++) {
        if (form[i] ~ /^[#@][A-Za-z0-9_]+$/) tagged = 1
        else if (form[i] !~ /^([A-Za-z]+|[0-9]+|,|:|!+|\?+|\.+)$/ || (form[i] ~ /^[!?.]/ && i < count)) plain = 0
    }
    if (plain && tagged) {
        print "# newpar"
        for (i = 1; i <= count; i++)
            print i, form[i], "_", "_", "_", "_", "_", "_", "_", (i < count && form[i + 1] ~ /^[,:!?.]/ ? "SpaceAfter=No" : "_")
        print ""
    }
    count = 0
}
BEGIN { FS = OFS = "\t" }
NF == 0 { flush(); next }
{ form[++count] = $1 }
END { flush() }
