import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { call } from '../e2e/mcp-client.ts'
import { flaws } from './page-flaws.ts'
import type { Phone } from './page-phone.ts'
import { installHooks, stage } from './open-stage.ts'

// With MCP_AUTH_TOKEN, even a program on this machine needs a token.
installHooks({ env: { MCP_AUTH_TOKEN: 'the-bearer-of-the-operator-32-characters' } })

/** The address on this machine where a client waits for the browser. */
const startCallback = async () => {
  const server = createServer((request, response) => {
    response.end('You can close this page.')
    // Chromium asks for the icon, too.
    if (request.url?.startsWith('/callback')) server.emit('back', new URL(request.url, 'http://127.0.0.1'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const back = once(server, 'back').then(([url]) => (url as URL).searchParams)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, back }
}

const newClient = (): Client => new Client({ name: 'robo', version: '1' })

/** An official client that knows nothing but the address of the tools. */
const createAgent = async () => {
  const { url: redirectUrl, back } = await startCallback()
  let opened: URL | undefined
  let information: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
  let tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>
  let verifier = ''
  let discovery: OAuthDiscoveryState | undefined
  const authProvider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { client_name: 'Robo Coder', redirect_uris: [redirectUrl], application_type: 'native' },
    state: () => 'a-state',
    clientInformation: () => information,
    saveClientInformation: (saved) => void (information = saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization: (url) => void (opened = url),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    saveDiscoveryState: (saved) => void (discovery = saved),
    discoveryState: () => discovery,
  }
  const transport = () => new StreamableHTTPClientTransport(new URL(stage.toolsUrl), { authProvider })
  const first = transport()
  await expect(newClient().connect(first)).rejects.toThrow('Unauthorized')
  return {
    address: opened!.href,
    back,
    /** Exchanges the code, and connects with the token. */
    connect: async () => {
      await first.finishAuth(await back)
      const connected = newClient()
      await connected.connect(transport())
      onTestFinished(() => connected.close())
      return connected
    },
  }
}

/** The browser goes back to the client, which is another site. */
const misdeedsOf = ({ misdeeds }: Phone): string[] =>
  misdeeds.filter((one) => !/^request to http:\/\/localhost:\d+\/callback\?/.test(one))

test('a client with the address alone is connected by a person, asks, and is disconnected', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const agent = await createAgent()
  await phone.page.goto(agent.address)
  await phone.sees('Allow this access?')
  await phone.page.reload()
  await phone.sees('Allow this access?')
  await phone.page.getByText('A client that says it is Robo Coder. No one has checked this name.').waitFor()
  expect(await flaws(phone)).toEqual([])
  await phone.page.getByLabel('Name of the agent').fill('Coder of Ada')
  await phone.setOwner(false)
  await phone.tap('Allow')
  await phone.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
  await phone.setOwner(true)
  await phone.tap('Allow')
  const client = await agent.connect()
  expect((await client.listTools()).tools).toHaveLength(3)
  const asking = call(client, 'request_approval', { action: 'Deploy 4.2', timeout_s: 60 })
  await phone.page.goto(`${stage.origin}/approver`)
  await phone.page.getByText('Requested by agent Coder of Ada').first().waitFor()
  await phone.page.locator('a[href^="#request="]').click()
  await phone.tap('Approve')
  expect((await asking).result).toMatchObject({ status: 'approved' })
  await phone.page.goto(`${stage.origin}/approver#agents`)
  await phone.sees('Agents and terminals')
  await phone.page.getByText('Not verified Calls itself Robo Coder').waitFor()
  expect(await flaws(phone)).toEqual([])
  await phone.page.getByRole('button', { name: 'Disconnect Coder of Ada' }).click()
  await phone.page.getByRole('status').getByText('Disconnected.').waitFor()
  await expect(client.listTools()).rejects.toThrow('Unauthorized')
  expect(misdeedsOf(phone)).toEqual([])
})

test('a person without a session signs in first, and denies', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  await phone.tap('Sign out')
  await phone.sees('Sign in')
  const agent = await createAgent()
  await phone.page.goto(agent.address)
  await phone.tap('Sign in')
  await phone.sees('Allow this access?')
  await phone.tap('Deny')
  const back = await agent.back
  expect([back.get('error'), back.get('state'), back.get('iss'), back.get('code')]).toEqual([
    'access_denied',
    'a-state',
    expect.stringMatching(/^http:/),
    null,
  ])
})

test('the page of a consent cannot be framed', async () => {
  const agent = await createAgent()
  for (const address of [agent.address, `${stage.origin}/approver`]) {
    const { headers } = await fetch(address, { redirect: 'follow' })
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
})
