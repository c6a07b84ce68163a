import { describe, expect, test } from 'vitest'
import { createPhone } from '../page/phone.ts'
import { dataOf } from '../fixtures.ts'
import {
  agentKeys,
  authorize,
  callTools,
  consentFrom,
  createVerifier,
  exchange,
  listTools,
  obtainCode,
  registered,
  requestIn,
} from '../mcp/oauth-client.ts'
import { onPostgres } from '../storage/postgres-databases.ts'
import { acme, beta, countOf, installHooks, installTenants, nodes, onEach } from './nodes.ts'

const agentsOf = (key: string) => agentKeys(nodes[2]!, key)

describe.runIf(onPostgres())('agents at several nodes', () => {
  installHooks({ dev: true })
  installTenants()

  test('an agent can use another node for each step', async () => {
    const [one, two, three] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]]
    const ada = await createPhone(one, acme.id, 1)
    const client_id = await registered(one)
    const { code_challenge, code_verifier } = createVerifier()
    const request = requestIn(await authorize(two, { client_id, code_challenge }))
    const { redirect_to } = dataOf(await consentFrom(three, ada, request))
    const code = new URL(redirect_to as string).searchParams.get('code') ?? ''
    const { status, text } = await exchange(one, { client_id, code_verifier, code })
    expect(status).toBe(200)
    const { access_token } = JSON.parse(text)
    expect(await onEach(async (node) => (await callTools(node, access_token, listTools)).status)).toEqual([
      200, 200, 200,
    ])
  })

  test('a code that comes to all nodes at once gives one token, and its replay ends it', async () => {
    const grace = await createPhone(nodes[0]!, beta.id, 2)
    const wrong = await countOf(8, async () => {
      const { client_id, code_verifier, code } = await obtainCode(nodes[0]!, grace)
      const answers = await onEach((node) => exchange(node, { client_id, code_verifier, code }))
      const [given, ...others] = answers.filter(({ status }) => status === 200)
      if (!given || others.length > 0 || (await agentsOf(beta.key)).length > 0) return true
      const { access_token } = JSON.parse(given.text)
      const after = await onEach(async (node) => (await callTools(node, access_token, listTools)).status)
      return after.some((status) => status !== 401)
    })
    expect(wrong).toBe(0)
  })
})
