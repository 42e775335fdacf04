every = []
while True:
    every.append(b'1' * 1000000)
