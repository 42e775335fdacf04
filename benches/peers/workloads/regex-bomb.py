import re

re.match(r'^(a+)+$', 'a' * 40 + '!') is not None
