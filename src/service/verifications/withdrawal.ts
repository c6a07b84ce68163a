import { subjectOf } from '../approvals/record.ts'
import type { Call } from '../call/call.ts'

/** Ends prompts that nobody has answered yet; no decision counts after it. */
export const withdrawPrompts = async (
  { db, now, audit, wake }: Call,
  {
    request_id,
    member,
  }: { request_id?: string; member?: { org_id: number; user_id: number; key_id: number } },
  detail: string,
): Promise<void> => {
  const ended = await db
    .updateTable('approvals')
    .set({ status: 'expired', detail, ended_at: now })
    .where('status', '=', 'pending')
    .where('request_id', 'in', (query) =>
      query
        .selectFrom('verifications as v')
        .where('v.kind', '=', 'prompt')
        .$if(request_id !== undefined, (one) => one.where('v.request_id', '=', request_id!))
        .$if(member !== undefined, (all) =>
          all
            .where('v.org_id', '=', member!.org_id)
            .where('v.user_id', '=', member!.user_id)
            .where('v.key_id', '=', member!.key_id),
        )
        .select('v.request_id'),
    )
    .returningAll()
    .execute()
  for (const one of ended) {
    await audit(one.org_id, subjectOf(one.request_id), ['status'])
    wake(one)
  }
}
