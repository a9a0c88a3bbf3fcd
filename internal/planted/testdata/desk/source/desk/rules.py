from . import store

# order:begin
def show(owner, number):
    # site:NOTE-1 good
    found = store.rows("SELECT body FROM notes_kept WHERE id = %d AND owner = %s" % (number, store.quote(owner)))
    # site:NOTE-1 bad
    found = store.rows("SELECT body FROM notes_kept WHERE id = %d AND owner > %s" % (number, store.quote("")))
    # site:NOTE-1 end
    return found


# order:next
def find(owner, word):
    # site:NOTE-2 bad
    like = "'%" + word + "%'"
    # site:NOTE-2 good
    like = store.quote("%" + word + "%")
    # site:NOTE-2 end
    return store.rows("SELECT body FROM notes_kept WHERE owner = %s AND body LIKE %s" % (store.quote(owner), like))


# order:next
def keep(owner, body):
    return store.rows("SELECT max(id) AS id FROM notes_kept")[0] if store.run(
        "INSERT INTO notes_kept (owner, body) VALUES (%s, %s)" % (store.quote(owner), store.quote(body))) is None else None
# order:end


def amount_of(text):
    n = int(text)
    # site:CASH-1 good
    if n < LEAST or n > MOST:
        raise ValueError("between %d and %d" % (LEAST, MOST))
    # site:CASH-1 bad
    if n > MOST:
        raise ValueError("at most %d" % MOST)
    # site:CASH-1 end
    return n


# site:CASH-1+ bad
MOST = 500
# site:CASH-1+ good
LEAST = 1
MOST = 500
# site:CASH-1+ end


def draw(owner, text):
    n = amount_of(text)
    store.run("INSERT INTO drawn VALUES (%s, %d)" % (store.quote(owner), n))
    return n
