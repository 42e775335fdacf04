async def main():
    return await hold({})


await main()
