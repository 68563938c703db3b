# Sentences of CoNLL-U with an abbreviation inside, each with the sentence behind it as a paragraph, for the segmenter: at most `-v most=40` for each
# abbreviation. Initials and common titles are in treebanks often enough. Blanks are put where English has them, and what cannot be told is left out.
function rare(form) {
    return form ~ /^(al|e\.g|i\.e|etc|cf|v|vs|viz|approx|ca|[Nn]os?|[Vv]ols?|pp?|[Ff]igs?|Eqs?|[Ss]ec|Ch|Ave?|Blvd|Ft|Jr|Sr|Inc|Ltd|Co|Corp|Gen|Col|Capt|Sgt|Lt|Rev|Hon|Prof|Gov|Sen|Rep|Ph\.D|M\.A|B\.A|M\.D|[A-Z][a-z][a-z]t?)\.$/ && ++seen[form] <= most
}
function plain(form) { return form ~ /^([A-Za-z]+|[0-9]+|[A-Za-z][A-Za-z.]*\.|[0-9]+[.,][0-9]+|'s|n't|[][,.;:?!()%])$/ }
function closes(form) { return form ~ /^('s|n't|[],.;:?!)%])$/ }
function paragraph(mark, i) {
    if (mark) print "# newpar"
    for (i = 1; i <= words; i++) print i, form[i], "_", "_", "_", "_", "_", "_", "_", i < words && (closes(form[i + 1]) || form[i] ~ /^[[(]$/) ? "SpaceAfter=No" : "_"
    print ""
}
BEGIN { RS = ""; FS = "\n"; OFS = "\t" }
{
    words = split("", form)
    good = 1
    for (i = 1; i <= NF; i++) {
        if ($i ~ /^#/) continue
        split($i, field, "\t")
        form[++words] = field[2]
        good = good && field[1] ~ /^[0-9]+$/ && plain(field[2])
    }
    good = good && words > 4 && form[1] ~ /^[A-Z]/ && form[words] ~ /^[.?!]$/
    if (pending && good) paragraph(0)
    wanted = 0
    # Who splits at abbreviations leaves short ends.
    if (good && !pending) for (i = 2; i < words - 3; i++) wanted += rare(form[i])
    pending = wanted > 0
    if (pending) paragraph(1)
}
