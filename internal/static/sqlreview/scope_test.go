package sqlreview

import (
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

const tinySpec = "`:shop` is the caller's shop.\n\n```sql\n" + `
CREATE TABLE shops (id int PRIMARY KEY);
CREATE TABLE orders (id int PRIMARY KEY, shop_id int NOT NULL REFERENCES shops(id), total int, gone_at timestamptz);
CREATE TABLE lines (id int PRIMARY KEY, order_id int NOT NULL REFERENCES orders(id), sku text);
` + "```\n\n## Security Requirements\n\n1. Tenant isolation: only orders and lines of the caller's shop (`shop_id`).\n"

// What a predicate says about a table's rows, wherever it stands.
func TestTenantPredicateReachesTheRows(t *testing.T) {
	for code, want := range map[string]audit.Label{
		`SELECT id FROM orders WHERE shop_id = :shop`:                                                                                audit.Good,
		`SELECT id FROM orders o WHERE :shop = o.shop_id AND (total > 1 OR total < 0)`:                                               audit.Good,
		`SELECT id FROM orders WHERE total > 1 OR total < 0 AND shop_id = :shop`:                                                     audit.Bad,
		`SELECT id FROM orders WHERE (shop_id = :shop AND total > 1) OR (shop_id = :shop AND total < 0)`:                             audit.Good,
		`SELECT id FROM orders WHERE shop_id = shop_id`:                                                                              audit.Bad,
		`SELECT id FROM orders WHERE NOT (shop_id <> :shop)`:                                                                         audit.Good,
		`SELECT id FROM orders WHERE shop_id = COALESCE(:shop, shop_id)`:                                                             audit.Bad,
		`SELECT id FROM orders WHERE :shop IS NULL OR shop_id = :shop`:                                                               audit.Bad,
		`SELECT id FROM orders WHERE CASE WHEN total > 0 THEN shop_id = :shop ELSE true END`:                                         audit.Bad,
		`SELECT l.id FROM lines l JOIN orders o ON o.id = l.order_id WHERE o.shop_id = :shop`:                                        audit.Good,
		`SELECT l.id FROM lines l LEFT JOIN orders o ON o.id = l.order_id AND o.shop_id = :shop`:                                     audit.Bad,
		`SELECT l.id FROM lines l LEFT JOIN orders o ON o.id = l.order_id WHERE o.shop_id = :shop`:                                   audit.Good,
		`SELECT l.id FROM lines l WHERE l.order_id IN (SELECT id FROM orders WHERE shop_id = :shop)`:                                 audit.Good,
		`SELECT l.id FROM lines l WHERE EXISTS (SELECT 1 FROM orders WHERE shop_id = :shop)`:                                         audit.Bad,
		`SELECT l.id FROM lines l WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.id = l.order_id AND o.shop_id = :shop)`:           audit.Bad,
		`WITH o AS (SELECT * FROM orders) SELECT id FROM o WHERE shop_id = :shop`:                                                    audit.Good,
		`WITH o AS (SELECT *, count(*) OVER () AS n FROM orders) SELECT id, n FROM o WHERE shop_id = :shop`:                          audit.Bad,
		`SELECT id FROM orders WHERE shop_id = :shop UNION ALL SELECT id FROM orders`:                                                audit.Bad,
		`SELECT id FROM (SELECT id, shop_id FROM orders UNION ALL SELECT id, shop_id FROM orders) u WHERE u.shop_id = :shop`:         audit.Good,
		`UPDATE orders SET total = 0 WHERE id = :id`:                                                                                 audit.Bad,
		`UPDATE orders SET total = 0 WHERE id = (SELECT id FROM orders WHERE id = :id AND shop_id = :shop)`:                          audit.Good,
		`DELETE FROM lines USING orders o WHERE o.id = lines.order_id AND o.shop_id = :shop`:                                         audit.Good,
		`INSERT INTO lines (id, order_id, sku) VALUES (1, :order, :sku)`:                                                             audit.Bad,
		`INSERT INTO lines (id, order_id, sku) SELECT 1, o.id, :sku FROM orders o WHERE o.id = :order AND o.shop_id = :shop`:         audit.Good,
		`INSERT INTO orders (id, shop_id) VALUES (:id, :shop) ON CONFLICT (id) DO UPDATE SET total = 1`:                              audit.Bad,
		`INSERT INTO orders (id, shop_id) VALUES (:id, :shop) ON CONFLICT (id) DO UPDATE SET total = 1 WHERE orders.shop_id = :shop`: audit.Good,
	} {
		rev := Review(tinySpec, code)
		require.Equal(t, want, rev.Verdict, "%s\n%s", code, rev.Explanation)
		if want == audit.Bad {
			require.Equal(t, []int{1}, rev.Violates, code)
		}
	}
}

// Host code: SQL in string literals is found in place, what is joined to it is a hole.
func TestSQLInHostCode(t *testing.T) {
	rev := Review(tinySpec, "rows, err := db.Query(\"SELECT id FROM orders WHERE shop_id = $1\", shop)\n")
	require.Equal(t, audit.Good, rev.Verdict, rev.Explanation)
	rev = Review(tinySpec, "rows, err := db.Query(\"SELECT id FROM orders WHERE shop_id = $1 ORDER BY \" + req.Sort, shop)\n")
	require.Equal(t, audit.Bad, rev.Verdict, rev.Explanation)
	require.Contains(t, rev.CWEs, audit.CWE(89))
	require.Contains(t, rev.Explanation, "1:")
}
