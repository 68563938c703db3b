# Every 25th sentence of CoNLL-U with one emoji or several, at its end or before its first word, at a fifth of the weight: treebanks have none. For the tagger,
# so only tags are right.
BEGIN {
    RS = ""; FS = "\n"
    count = split("😀 😂 🙂 😉 😍 😎 😊 🤣 😭 😡 🤔 🙄 👍 👎 👏 🙏 💪 👀 🎉 🎂 🔥 ✨ ⭐ ☀️ ❤️ 💔 💯 🚗 ✈️ 🚢 🏠 🌍 🌧️ 🌹 🍕 🍺 ☕ 🐶 🐱 📷 📞 ✅ ❌ ⚽ 🏆", emoji, " ")
}
# A token that is an emoji.
function add(id, form) { print id "\t" form "\t_\tSYM\tNFP\t_\t_\t_\t_\t_" }
NR % 25 == 3 {
    form = emoji[++used % count + 1]
    some = used % 7 % 3 + 1 # 1, 2 or 3 of a kind
    before = used % 2 ? 0 : some
    words = 0
    print "# weight = 0.2"
    for (i = 1; i <= NF; i++) {
        if ($i !~ /^[0-9]+(-[0-9]+)?\t/) { print $i; continue }
        if (words == 0) for (; words < before; words++) add(words + 1, form)
        fields = split($i, field, "\t")
        ends = split(field[1], end, "-")
        line = end[1] + before (ends > 1 ? "-" end[2] + before : "")
        if (ends == 1) words = line
        if (field[7] ~ /^[1-9]/) field[7] += before
        for (f = 2; f <= fields; f++) line = line "\t" field[f]
        print line
    }
    if (!before) for (n = 1; n <= some; n++) add(words + n, form)
    print ""
}
