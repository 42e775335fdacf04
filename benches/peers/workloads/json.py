import json


def main():
    data = [{'id': i, 'name': 'n' + str(i)} for i in range(50000)]
    back = json.loads(json.dumps(data))
    return len(back) + len(back[49999]['name'])


main()
