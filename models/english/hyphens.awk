# Sentences of columns that have words with hyphens, as CoNLL-U in which these words are cut as our treebank cuts them: Jean - Claude, without blanks.
function row(form, touches, label) {
    print ++number, form, "_", "_", "_", "_", "_", "_", "_", (touches ? "SpaceAfter=No|" : "") "NER=" label
}
function flush(   i, k, parts, part, inside) {
    number = 0
    for (i = 1; cut && i <= count; i++) {
        parts = is_cut[i] ? split(form[i], part, "-") : 1
        if (parts == 1) part[1] = form[i]
        inside = label[i]
        sub(/^B-/, "I-", inside)
        for (k = 1; k <= parts; k++) {
            row(part[k], k < parts, k == 1 ? label[i] : inside)
            if (k < parts) row("-", 1, inside)
        }
    }
    if (cut) print ""
    count = cut = 0
}
BEGIN { FS = OFS = "\t" }
NF < 2 { flush(); next }
{
    form[++count] = $1
    label[count] = $2
    is_cut[count] = $1 ~ /^[^-0-9@#:\/]+(-[^-0-9@#:\/]+)+$/
    cut += is_cut[count]
}
END { flush() }
