async def main():
    found = (await records({}))['records']
    return [{'id': record['id'], 'name': record['name']} for record in found if record['open']]


await main()
