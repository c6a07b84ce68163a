import {
  authorize,
  callback,
  createVerifier,
  exchange,
  registered,
  requestIn,
  sendForm,
} from '../../service/mcp/oauth-client.ts'
import { origin } from '../../service/mcp/oauth-client.ts'
import type { TestService } from '../../service/harness.ts'
import { reading, readingAt, type Scenario, type Scene, status, unreachable, visible } from './scene.ts'

/** The service, as the client of the authorization server knows it. */
const reach = ({ stage }: Scene): TestService => {
  const request = (url: string, init: RequestInit): Promise<Response> =>
    fetch(url.replace(origin, stage.origin), { ...init, redirect: 'manual' })
  return { app: { request } } as unknown as TestService
}

/** A client that has sent the browser of the administrator to the page. */
export const asking = async (scene: Scene) => {
  const { stage } = scene
  const { phone } = await scene.admin()
  const service = reach(scene)
  const client_id = await registered(service)
  const { code_verifier, code_challenge } = createVerifier()
  const resource = `${stage.origin}/mcp`
  const sealed = requestIn(await authorize(service, { client_id, code_challenge, resource }))
  let back: URL | undefined
  await phone.page.unrouteAll()
  await phone.page.route(`${callback}*`, (route) => {
    back = new URL(route.request().url())
    return route.fulfill({ body: 'You can close this page.' })
  })
  return {
    phone,
    open: async (): Promise<void> => {
      await phone.page.goto('about:blank')
      await phone.page.goto(`${stage.origin}/approver#authorize=${sealed}`)
    },
    atClient: async (field: 'code' | 'error'): Promise<void> => {
      await phone.page.waitForURL(`${callback}*`)
      if (!back!.searchParams.get(field)) throw new Error(`The client got ${back!.search}`)
      // The browser goes to the client, which is another host.
      phone.misdeeds.length = 0
    },
    connect: () =>
      exchange(service, { client_id, code_verifier, resource, code: back!.searchParams.get('code') ?? '' }),
  }
}

const question = 'Allow this access?'

const answering =
  (button: 'Allow' | 'Deny', field: 'code' | 'error'): Scenario =>
  async (scene) => {
    const { phone, open, atClient } = await asking(scene)
    await open()
    await phone.sees(question)
    return {
      phone,
      isUnwatched: true,
      reveal: () => phone.sees(question),
      tap: () => phone.tap(button),
      says: () => unreachable(phone),
      done: () => atClient(field),
    }
  }

/** The session ends while the question is on the screen. Whoever signs in is asked again. */
const signedOut: Scenario = async (scene) => {
  const one = await answering('Allow', 'code')(scene)
  const { phone } = one
  await phone.context.clearCookies()
  return {
    ...one,
    done: async () => {
      await phone.sees('Sign in')
      await phone.tap('Sign in')
      await phone.sees(question)
      await phone.tap('Allow')
      await one.done()
    },
  }
}

const connected = async (scene: Scene) => {
  const client = await asking(scene)
  await client.open()
  await client.phone.tap('Allow')
  await client.atClient('code')
  await client.connect()
  await scene.admin()
  return client.phone
}

export const agents: Record<string, Scenario> = {
  readConsent: async (scene) => {
    const { phone, open } = await asking(scene)
    return readingAt(phone, open, question)
  },
  beginConsent: answering('Allow', 'code'),
  giveConsent: answering('Allow', 'code'),
  'beginConsent, signed out': signedOut,
  refuseConsent: answering('Deny', 'error'),
  // A refusal needs no session.
  'refuseConsent, signed out': async (scene) => {
    const one = await answering('Deny', 'error')(scene)
    await one.phone.context.clearCookies()
    const done = async (): Promise<void> => {
      await one.done()
      await scene.spoil()
    }
    return { ...one, done }
  },
  openTerminalCode: async (scene) => {
    const { phone } = await scene.admin()
    const fields = { client_id: 'svc', installation: 'a'.repeat(22), host: 'build-7' }
    const { text } = await sendForm(reach(scene), '/device_authorization', fields)
    await scene.show(phone, 'agents')
    await phone.page.getByLabel('Code that a terminal shows').fill(JSON.parse(text).user_code)
    return {
      phone,
      tap: () => phone.tap('Continue'),
      says: () => unreachable(phone),
      done: () => phone.sees(question),
    }
  },
  listOwnAgents: reading('agents', 'Agents and terminals'),
  revokeOwnAgent: async (scene) => {
    const phone = await connected(scene)
    await scene.show(phone, 'agents')
    const disconnect = phone.page.getByRole('button', { name: /^Disconnect / }).last()
    await visible(disconnect)
    return {
      phone,
      tap: () => disconnect.click(),
      says: () => unreachable(phone),
      done: () => status(phone, /Disconnected\.|The answer was lost/),
      knows: true,
      happened: await scene.audited('revokeOwnAgent', 'revoked_at'),
    }
  },
}
