import { type Arena, dataOf, oddOf } from './arena.ts'
import { enrollApprover } from './enrolled-approver.ts'
import type { Race } from './race-kinds.ts'

type Named = { name: string }

const names = async ({ send, beta }: Arena, id: 'listRules' | 'listGroups'): Promise<string[]> =>
  dataOf<Named[]>(await send(0, id, { org_id: beta.id, limit: 100 })).map(({ name }) => name)

/**
 * Rules that ask a group are created while the group is deleted and another one is changed, at every node. All of them write the
 * same head, so that one that did not wait would undo another one.
 */
export const changesOfRules: Race = {
  name: 'changes of rules and groups',
  times: 12,
  run: async (arena, n) => {
    const { beta, cluster, operator, send, width } = arena
    const org_id = beta.id
    const users: string[] = []
    for (let at = 0; at < 3; at++)
      users.push(
        (await enrollApprover(cluster.nodes[at % cluster.nodes.length]!.baseUrl, operator, org_id)).user,
      )
    const [asked, other] = [`asked-${n}`, `other-${n}`]
    for (const name of [asked, other])
      dataOf(await send(0, 'createGroup', { org_id, name, members: users.slice(0, 2) }))
    const rules = Array.from({ length: width }, (_, at) => `race-${n}-${at}`)
    const [added, deleted, ...created] = await Promise.all([
      send(1, 'addGroupMember', { org_id, name: other, user_id: users[2] }),
      send(2, 'deleteGroup', { org_id, name: asked }),
      ...rules.map((name, node) =>
        send(node, 'createRule', { org_id, name, match: { type: 'file', file: [name] }, who: [`@${asked}`] }),
      ),
    ])
    const odd = oddOf([added, deleted, ...created])
    if (odd !== undefined) return odd
    // Fails with 409 if the head is not that of all rules and groups.
    const [ruled, grouped] = [await names(arena, 'listRules'), await names(arena, 'listGroups')]
    const made = rules.filter((_, at) => created[at]!.status === 200)
    const lost = made.filter((name) => !ruled.includes(name))
    if (lost.length > 0) return `lost the rules ${lost.join(', ')}`
    if (rules.filter((name) => ruled.includes(name)).length !== made.length) return 'a rule that was refused'
    const isDeleted = deleted!.status === 200
    if (isDeleted === grouped.includes(asked)) return `the group was deleted: ${isDeleted}, and is it there?`
    if (isDeleted && made.length > 0) return 'rules ask a group that was deleted'
    if (added!.status !== 200) return `the other group: ${added!.text}`
    const { members } = dataOf<{ members: string[] }>(await send(0, 'getGroup', { org_id, name: other }))
    if (members.length !== 3) return 'lost a member'
    if (made.length > 0) dataOf(await send(0, 'setRules', { org_id, removed: made }))
    return undefined
  },
}
