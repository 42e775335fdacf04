every = []
while True:
    every.append([7] * 100000)
