import asyncio


async def main():
    return len(await asyncio.gather(*[wait({}) for _ in range(1000)]))


await main()
