import re


def main():
    made = []
    for i in range(20000):
        made.append('2026-01-01 line ' + str(i) + ' user' + str(i % 97) + ' took ' + str(i % 1000) + ' ms and more')
    text = '\n'.join(made)
    counts = {}
    for word in re.split(r'\s+', text):
        counts[word] = counts.get(word, 0) + 1
    lines = len(re.findall(r'line \d+', text))
    # Monty's re.sub takes no function.
    parts = re.split(r'(user\d+)', text)
    replaced = len(''.join([part.upper() if at % 2 else part for at, part in enumerate(parts)]))
    slow = 0
    pattern = re.compile(r'took (\d+) ms')
    for line in text.split('\n'):
        found = pattern.search(line)
        if found and int(found.group(1)) > 900:
            slow += 1
    return len(counts) + lines + replaced + slow


main()
