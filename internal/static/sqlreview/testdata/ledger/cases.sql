--- payments good
SELECT p.id, p.amount_minor, p.state, right(a.iban, 4) AS iban_tail
FROM payments p JOIN accounts a ON a.id = p.account_id AND a.merchant_id = p.merchant_id
WHERE p.merchant_id = @merchant_id AND p.voided_at IS NULL AND a.voided_at IS NULL
  AND (@state IS NULL OR p.state = @state)
ORDER BY p.created_at DESC, p.id LIMIT LEAST(@n, 500)
--- payments good
SELECT p.id, p.amount_minor, a.currency
FROM (SELECT id, currency FROM accounts WHERE merchant_id = @merchant_id AND voided_at IS NULL) AS a
JOIN payments p ON p.account_id = a.id
WHERE p.voided_at IS NULL AND p.merchant_id = @merchant_id
ORDER BY p.created_at DESC LIMIT CASE WHEN @n BETWEEN 1 AND 500 THEN @n ELSE 100 END
--- payments bad 1
SELECT p.id, p.amount_minor, p.state
FROM payments p JOIN accounts a ON a.currency = 'EUR' AND a.merchant_id = @merchant_id
WHERE p.voided_at IS NULL AND a.voided_at IS NULL
ORDER BY p.created_at DESC, p.id LIMIT 500
--- payments bad 4
SELECT p.id, p.amount_minor, p.state, a.iban
FROM payments p JOIN accounts a ON a.id = p.account_id AND a.merchant_id = p.merchant_id
WHERE p.merchant_id = @merchant_id AND p.voided_at IS NULL AND a.voided_at IS NULL
ORDER BY p.created_at DESC, p.id LIMIT 500
--- payments bad 3
SELECT p.id, p.amount_minor, p.state
FROM payments p JOIN accounts a ON a.id = p.account_id AND a.merchant_id = p.merchant_id
WHERE p.merchant_id = @merchant_id AND (p.voided_at IS NULL OR p.voided_at > now() - interval '30 days') AND a.voided_at IS NULL
ORDER BY p.created_at DESC, p.id LIMIT 500
--- payments bad 9
SELECT p.id, p.amount_minor, p.state
FROM payments p
WHERE p.merchant_id = @merchant_id AND p.voided_at IS NULL
ORDER BY p.created_at DESC, p.id OFFSET @skip
--- payments bad 2
SELECT p.id, p.amount_minor, p.state
FROM payments p
WHERE p.merchant_id = @merchant_id AND p.voided_at IS NULL
ORDER BY {{sort}} LIMIT 500
--- payments bad 4
SELECT row_to_json(p) FROM payments p
WHERE p.merchant_id = @merchant_id AND p.voided_at IS NULL ORDER BY p.id LIMIT 50
--- refund good
WITH m AS (
  SELECT merchant_id FROM mandates
  WHERE merchant_id = @merchant_id AND operator_id = @operator_id AND power = 'refund' AND revoked_at IS NULL
    AND starts_at <= now() AND ends_at > now()
), pay AS (
  UPDATE payments p SET state = 'refunded', version = p.version + 1
  FROM m WHERE p.merchant_id = m.merchant_id AND p.id = @payment_id AND p.state = 'captured' AND p.voided_at IS NULL AND p.version = @version
  RETURNING p.id, p.amount_minor, p.merchant_id
), r AS (
  INSERT INTO refunds (id, payment_id, amount_minor, created_by, idempotency_key)
  SELECT gen_random_uuid(), id, amount_minor, @operator_id, @key FROM pay
  RETURNING payment_id
), j AS (
  INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
  SELECT merchant_id, @operator_id, id, 'refund' FROM pay
)
SELECT payment_id FROM r
--- refund bad 5
WITH m AS (
  SELECT merchant_id FROM mandates
  WHERE merchant_id = @merchant_id AND operator_id = @operator_id AND revoked_at IS NULL
    AND starts_at <= now() AND ends_at > now()
), pay AS (
  UPDATE payments p SET state = 'refunded', version = p.version + 1
  FROM m WHERE p.merchant_id = m.merchant_id AND p.id = @payment_id AND p.state = 'captured' AND p.voided_at IS NULL AND p.version = @version
  RETURNING p.id, p.amount_minor, p.merchant_id
), r AS (
  INSERT INTO refunds (id, payment_id, amount_minor, created_by, idempotency_key)
  SELECT gen_random_uuid(), id, amount_minor, @operator_id, @key FROM pay
  RETURNING payment_id
), j AS (
  INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
  SELECT merchant_id, @operator_id, id, 'refund' FROM pay
)
SELECT payment_id FROM r
--- refund bad 5
WITH m AS (
  SELECT merchant_id FROM mandates
  WHERE merchant_id = @merchant_id AND operator_id = @operator_id AND power = 'refund'
    AND starts_at <= now() AND ends_at > now()
), pay AS (
  UPDATE payments p SET state = 'refunded', version = p.version + 1
  FROM m WHERE p.merchant_id = m.merchant_id AND p.id = @payment_id AND p.state = 'captured' AND p.voided_at IS NULL AND p.version = @version
  RETURNING p.id, p.amount_minor, p.merchant_id
), j AS (
  INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
  SELECT merchant_id, @operator_id, id, 'refund' FROM pay
)
INSERT INTO refunds (id, payment_id, amount_minor, created_by, idempotency_key)
SELECT gen_random_uuid(), id, amount_minor, @operator_id, @key FROM pay
--- refund bad 6
WITH m AS (
  SELECT merchant_id FROM mandates
  WHERE merchant_id = @merchant_id AND operator_id = @operator_id AND power = 'refund' AND revoked_at IS NULL
    AND ends_at > now()
), pay AS (
  UPDATE payments p SET state = 'refunded', version = p.version + 1
  FROM m WHERE p.merchant_id = m.merchant_id AND p.id = @payment_id AND p.state = 'captured' AND p.voided_at IS NULL AND p.version = @version
  RETURNING p.id, p.amount_minor, p.merchant_id
), j AS (
  INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
  SELECT merchant_id, @operator_id, id, 'refund' FROM pay
)
INSERT INTO refunds (id, payment_id, amount_minor, created_by, idempotency_key)
SELECT gen_random_uuid(), id, amount_minor, @operator_id, @key FROM pay
--- refund bad 7
WITH m AS (
  SELECT merchant_id FROM mandates
  WHERE merchant_id = @merchant_id AND operator_id = @operator_id AND power = 'refund' AND revoked_at IS NULL
    AND starts_at <= now() AND ends_at > now()
), pay AS (
  UPDATE payments p SET state = 'refunded', version = p.version + 1
  FROM m WHERE p.merchant_id = m.merchant_id AND p.id = @payment_id AND p.state IN ('authorised', 'captured') AND p.voided_at IS NULL AND p.version = @version
  RETURNING p.id, p.amount_minor, p.merchant_id
), j AS (
  INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
  SELECT merchant_id, @operator_id, id, 'refund' FROM pay
)
INSERT INTO refunds (id, payment_id, amount_minor, created_by, idempotency_key)
SELECT gen_random_uuid(), id, amount_minor, @operator_id, @key FROM pay
--- refund bad 10
WITH m AS (
  SELECT merchant_id FROM mandates
  WHERE merchant_id = @merchant_id AND operator_id = @operator_id AND power = 'refund' AND revoked_at IS NULL
    AND starts_at <= now() AND ends_at > now()
), pay AS (
  UPDATE payments p SET state = 'refunded', version = p.version + 1
  FROM m WHERE p.merchant_id = m.merchant_id AND p.id = @payment_id AND p.state = 'captured' AND p.voided_at IS NULL AND p.version = @version
  RETURNING p.id, p.amount_minor, p.merchant_id
)
INSERT INTO refunds (id, payment_id, amount_minor, created_by, idempotency_key)
SELECT gen_random_uuid(), id, amount_minor, @operator_id, @key FROM pay
--- capture good
WITH pay AS (
  UPDATE payments SET state = 'captured', version = version + 1
  WHERE id = @payment_id AND merchant_id = @merchant_id AND voided_at IS NULL AND state = 'authorised' AND version = @version
  RETURNING id, merchant_id
)
INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
SELECT merchant_id, @operator_id, id, 'capture' FROM pay RETURNING payment_id
--- capture bad 8
WITH pay AS (
  UPDATE payments SET state = 'captured', version = version + 1
  WHERE id = @payment_id AND merchant_id = @merchant_id AND voided_at IS NULL AND state = 'authorised'
  RETURNING id, merchant_id
)
INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
SELECT merchant_id, @operator_id, id, 'capture' FROM pay RETURNING payment_id
--- capture bad 3
WITH pay AS (
  UPDATE payments SET state = 'captured', version = version + 1
  WHERE id = @payment_id AND merchant_id = @merchant_id AND state = 'authorised' AND version = @version
  RETURNING id, merchant_id
)
INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
SELECT merchant_id, @operator_id, id, 'capture' FROM pay RETURNING payment_id
--- capture bad 1
WITH pay AS (
  UPDATE payments SET state = 'captured', version = version + 1
  WHERE id = @payment_id AND voided_at IS NULL AND state = 'authorised' AND version = @version
  RETURNING id, merchant_id
)
INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
SELECT @merchant_id, @operator_id, id, 'capture' FROM pay RETURNING payment_id
--- capture bad 7
WITH pay AS (
  UPDATE payments SET state = 'captured', version = version + 1
  WHERE id = @payment_id AND merchant_id = @merchant_id AND voided_at IS NULL AND version = @version
  RETURNING id, merchant_id
)
INSERT INTO ledger_journal (merchant_id, operator_id, payment_id, event)
SELECT merchant_id, @operator_id, id, 'capture' FROM pay RETURNING payment_id
--- totals good
SELECT a.currency, sum(p.amount_minor) AS total
FROM payments p JOIN accounts a ON a.id = p.account_id
WHERE a.merchant_id = @merchant_id AND p.merchant_id = @merchant_id AND a.voided_at IS NULL AND p.voided_at IS NULL AND p.state = 'captured'
GROUP BY a.currency ORDER BY 1 LIMIT 500
--- totals bad 1
SELECT a.currency, sum(p.amount_minor) AS total, sum(p.amount_minor) / NULLIF((SELECT sum(x.amount_minor) FROM payments x WHERE x.voided_at IS NULL), 0) AS share
FROM payments p JOIN accounts a ON a.id = p.account_id
WHERE a.merchant_id = @merchant_id AND p.merchant_id = @merchant_id AND a.voided_at IS NULL AND p.voided_at IS NULL AND p.state = 'captured'
GROUP BY a.currency ORDER BY 1 LIMIT 500
--- totals bad 3
SELECT a.currency, sum(p.amount_minor) AS total
FROM payments p JOIN accounts a ON a.id = p.account_id
WHERE a.merchant_id = @merchant_id AND p.merchant_id = @merchant_id AND p.voided_at IS NULL AND p.state = 'captured'
GROUP BY a.currency ORDER BY 1 LIMIT 500
--- refund-list good
SELECT r.id, r.amount_minor FROM refunds r
WHERE EXISTS (SELECT 1 FROM payments p WHERE p.id = r.payment_id AND p.merchant_id = @merchant_id AND p.voided_at IS NULL)
ORDER BY r.id LIMIT 500
--- refund-list bad 1
SELECT r.id, r.amount_minor FROM refunds r
LEFT JOIN payments p ON p.id = r.payment_id AND p.merchant_id = @merchant_id AND p.voided_at IS NULL
ORDER BY r.id LIMIT 500
--- refund-list bad 9
WITH page AS (SELECT id FROM payments WHERE merchant_id = @merchant_id AND voided_at IS NULL ORDER BY created_at LIMIT 500)
SELECT r.id, r.amount_minor FROM page JOIN refunds r ON r.payment_id = page.id ORDER BY r.id
