select a.b, c as "D" from s.a, lateral (select 1 as c) x where a.b is not distinct from c
;;
select * from t where (a, b) in ((1, 2), (3, 4)) and not exists (select from u)
;;
select count(*) filter (where a > 0) over w, rank() over (partition by b order by c desc nulls last) from t window w as (order by d rows between unbounded preceding and current row exclude ties)
;;
with recursive r(id, path) as (select id, array[id] from n where parent is null union all select n.id, r.path || n.id from n join r on n.parent = r.id) search depth first by id set ord cycle id set is_cycle using p select * from r order by ord
;;
select x from t where a between symmetric 1 and 2 or b not between 3 and 4 and c like any (array['x%', 'y%'])
;;
insert into t as x (a, b) select 1, 2 from u on conflict on constraint t_pk do update set (a, b) = row (excluded.a, default) where x.a <> excluded.a returning x.*, a + 1 as n
;;
insert into t default values
;;
update only t as x set a = default, b[1] = 2, (c, d) = (select e, f from u where u.id = x.id) from v left join w using (k) where x.id = v.id returning *
;;
delete from t using u, v where t.a = u.a and u.b = v.b returning t.a
;;
merge into t using (values (1, 'a')) as s(id, v) on t.id = s.id when matched and s.v is null then delete when matched then update set v = s.v when not matched then insert (id, v) values (s.id, s.v)
;;
select distinct on (a, b) a, b, c from t order by a, b, c desc limit all offset 3
;;
select a from t fetch next 5 rows with ties
;;
select a from t order by a fetch first row only for no key update of t skip locked
;;
(select a from t limit 1) union all (select b from u order by b) intersect select c from v except all select d from w order by 1
;;
select cast(a as numeric(10, 2)), b::timestamp(3) with time zone at time zone 'utc', interval '1 day' + date '2020-01-01', c::double precision[] from t
;;
select t.*, (t).a, (t.b).c, (f(t)).*, arr[1:2][3], arr[:2], j -> 'a' ->> 0, j #>> '{a,b}', j @> '{"a": 1}', j ? 'k', j ?| array['a'] from t
;;
select case a when 1 then 'x' when 2 then 'y' else null end, case when a then b end, coalesce(a, b), nullif(a, 0), greatest(a, b), extract(year from d), substring(s from 2 for 3), position('a' in s), trim(both ' ' from s), overlay(s placing 'x' from 1 for 2) from t
;;
select a from t group by grouping sets ((a), (a, b), ()), cube (c, d), rollup (e) having grouping(a) = 0
;;
select string_agg(distinct a, ', ' order by a), percentile_cont(0.5) within group (order by b), array(select c from u), mode() within group (order by c) from t
;;
select * from generate_series(1, 10) with ordinality as g(n, o), unnest(array[1, 2]) as u, rows from (f(1), g(2)) as r(a, b), json_to_recordset('[]') as j(a int, b text)
;;
select * from a join b join c on b.x = c.x on a.x = b.x natural left join d full outer join e using (k) cross join f
;;
select - a ^ 2 * 3 + 4 % 5, not a and b or c, a <> all (select 1), a = some ('{1,2}'::int[]), ~ b, @ c, a || b || 'c', a is true and b is not unknown from t
;;
values (1, 'a'), (2, default)
;;
table t
;;
select 'it''s', E'a\'b\n', U&'\0041', $q$ body ' $$ $q$, B'101', X'1F', 1e10, .5, 0x1F from t
;;
select a as select_, "order" from "group" "table" where "table"."order" = 1
;;
select current_date, current_timestamp(3), localtime, session_user, current_user, now() at time zone tz from t
;;
select * from t tablesample system (10) repeatable (1) where a overlaps b
;;
select * from t where (start_at, end_at) overlaps (now(), now() + '1 day')
;;
with a as materialized (select 1), b as not materialized (delete from t returning id) insert into c select * from a, b
;;
select a from t where b = any ($1) and c is not null order by d using >
;;
select exists (select 1 from t), (select max(a) from t), array_agg(row(a, b)) from u
;;
select json_build_object('a', a, 'b', jsonb_agg(b order by c)) from t group by a
;;
select a from t where a ilike 'x' escape '!' and b similar to 'y' and c ~* 'z' and d !~ 'w' collate "C"
;;
explain analyze select 1
;;
select from t
;;
select a, from t
;;
select from where
;;
select a b c from t
;;
select * from t where
;;
select (a from t
;;
select a) from t
;;
insert into values (1)
;;
update t a = 1
;;
delete t where a = 1
;;
select a from t where a in ()
;;
select a from t where a = = 1
;;
select case when a then b from t
;;
select a from t join u
;;
select a from t order a
;;
select a from t group by
;;
with x as select 1 select 2
;;
select a between 1 from t
;;
select count(* from t
;;
select a from t union
;;
insert into t (a) values (1) on conflict do update
;;
select a from t limit
;;
select cast(a, int) from t
;;
update t set where a = 1
;;
select 1 2
;;
select a from (select 1
