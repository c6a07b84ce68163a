import type { ClientBase, Pool } from 'pg'

const undone = 'SVC00'
const statement = `do $$ begin
  insert into settings (name, value)
    select 'write_probe_pages', string_agg(md5(random()::text), '') from generate_series(1, 8192);
  insert into audit (org_id, seq, at, actor, action, subject, changes, request_id, rules, newest_key, newest_user, newest_device, prev_hash, hash)
    select -1, n, '', '', '', '', repeat('0', 1024), '', 0, 0, 0, 0, '', '' from generate_series(1, 128) as n;
  raise exception using errcode = '${undone}';
end $$`

/** Takes new pages in the tables that grow, as requests do, and undoes it. Rejects if that fails. */
export const writeAndUndo = async (client: Pick<ClientBase | Pool, 'query'>): Promise<void> => {
  await client.query(statement).catch((error: { code?: string }) => {
    if (error.code !== undone) throw error
  })
}
