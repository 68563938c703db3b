# Labels of columns (the first file) put into the MISC field of the same sentences in CoNLL-U (the second); of these, the sentences with a hyphen
# that touches a word.
function flush(   i, label) {
    if (touches && words in labels) {
        split(labels[words], label, " ")
        for (i = 1; i <= rows; i++) {
            $0 = row[i]
            if (number[i]) $10 = ($10 == "_" ? "" : $10 "|") "NER=" label[number[i]]
            print
        }
        print ""
    }
    rows = count = touches = 0
    words = ""
}
BEGIN { FS = OFS = "\t" }
FNR == NR && NF < 2 { if (words != "") labels[words] = line; words = line = ""; next }
FNR == NR { words = words $1 " "; line = line $2 " "; next }
FNR == 1 { words = "" }
NF == 0 { flush(); next }
{ row[++rows] = $0; number[rows] = 0 }
$1 ~ /^[0-9]+$/ { words = words $2 " "; number[rows] = ++count; if ($2 == "-" && $10 ~ /SpaceAfter=No/) touches = 1 }
END { flush() }
