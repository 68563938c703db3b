# Every Nth sentence of columns, from the Kth, in small letters or capitals: `-v n=5 -v k=1 -v capitals=0`. ASCII alone, so that every awk gives the same.
BEGIN { RS = ""; ORS = "\n\n" }
NR % n != k || /^-DOCSTART-/ { next }
{
    rows = split($0, row, "\n")
    text = ""
    for (i = 1; i <= rows; i++) {
        tab = index(row[i], "\t")
        word = substr(row[i], 1, tab - 1)
        text = text (i > 1 ? "\n" : "") (capitals ? toupper(word) : tolower(word)) substr(row[i], tab)
    }
    print text
}
