const paths = ['README.md', 'package.json'];
for path in paths:
    print(path)
