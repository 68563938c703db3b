# Names in the MISC field of CoNLL-U as columns, without the sentences that have a hyphen that touches a word: where names are made by rule, or by a
# recognizer, they often end there. `-v documents=1` keeps the marks of documents.
function flush(   i) {
    if (!touches) {
        if (marked && documents) print "-DOCSTART-\tO\n"
        for (i = 1; i <= count; i++) print row[i]
        if (count) print ""
        marked = 0
    }
    count = touches = 0
}
BEGIN { FS = OFS = "\t" }
/^# newdoc/ { marked = 1 }
/^#/ { next }
NF == 0 { flush(); next }
$1 ~ /^[0-9]+$/ {
    row[++count] = $2 OFS (match($10, /NER=[^|]*/) ? substr($10, RSTART + 4, RLENGTH - 4) : "O")
    if ($2 == "-" && $10 ~ /SpaceAfter=No/) touches = 1
}
END { flush() }
