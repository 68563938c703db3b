# Every 25th sentence of CoNLL-U with an emoji, or two of a kind as one token, at its end, at a fifth of the weight: treebanks have none. For the tagger,
# so only tags are right.
BEGIN {
    RS = ""; FS = "\n"
    count = split("😀 😂 🙂 😉 😍 😎 😊 🤣 😭 😡 🤔 🙄 👍 👎 👏 🙏 💪 👀 🎉 🎂 🔥 ✨ ⭐ ☀️ ❤️ 💔 💯 🚗 ✈️ 🚢 🏠 🌍 🌧️ 🌹 🍕 🍺 ☕ 🐶 🐱 📷 📞 ✅ ❌ ⚽ 🏆", emoji, " ")
}
NR % 25 == 3 {
    words = 0
    print "# weight = 0.2"
    for (i = 1; i <= NF; i++) {
        print $i
        if ($i ~ /^[0-9]+\t/) words = $i + 0
    }
    form = emoji[++used % count + 1]
    print (words + 1) "\t" (used % 4 ? form : form form) "\t_\tSYM\tNFP\t_\t1\tdiscourse\t_\t_\n"
}
