async def main():
    total = 0
    for i in range(10000):
        total += (await echo({'i': i}))['i']
    return total


await main()
