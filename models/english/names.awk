# Names in the MISC field of CoNLL-U as columns. Where names are made by rule, or by a recognizer, they often end at a hyphen that touches a word: persons
# are put together there, and sentences with other such hyphens are left out. `-v documents=1` keeps the marks of documents; `-v n=25` takes every 25th
# sentence, and every third of those with such a person.
function type(label) { return substr(label, 3) }
function flush(   i, bad, person, join) {
    for (i = 2; i < count; i++) {
        if (form[i] != "-" || !touches[i]) continue
        join = touches[i - 1] && type(label[i - 1]) == "PER" && type(label[i + 1]) == "PER"
        if (join) label[i] = label[i + 1] = "I-PER"
        if (join) person = 1
        else bad = 1
    }
    if (count && touches[1] && form[1] == "-") bad = 1
    if (count) sentences++
    if (count && !bad && (n < 2 || sentences % n == 7 || person && ++persons % 3 == 0)) {
        if (marked && documents) print "-DOCSTART-\tO\n"
        for (i = 1; i <= count; i++) print form[i], label[i]
        print ""
        marked = 0
    }
    count = 0
}
BEGIN { FS = OFS = "\t" }
/^# newdoc/ { marked = 1 }
/^#/ { next }
NF == 0 { flush(); next }
$1 ~ /^[0-9]+$/ {
    form[++count] = $2
    label[count] = match($10, /NER=[^|]*/) ? substr($10, RSTART + 4, RLENGTH - 4) : "O"
    touches[count] = $10 ~ /SpaceAfter=No/
}
END { flush() }
