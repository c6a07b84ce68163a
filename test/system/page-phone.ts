import { existsSync } from 'node:fs'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  type Page,
} from 'playwright-core'
import { patienceMs } from '../patience.mts'

// A phone: a browser profile with an authenticator that verifies its owner or does not.

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const findChromium = (): string | undefined =>
  ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))

/** Chromium without its windows and notifications, which takes a third less processor time. */
const shell = '/usr/bin/chromium-headless-shell'

const options = (more: string[], executablePath = findChromium()) => {
  if (executablePath === undefined) throw new Error('Chromium is missing: apt-get install -y chromium')
  return { executablePath, args: [...flags, ...more], timeout: patienceMs }
}

type Launched = {
  /** Chromium whole, which shows notifications. */
  notifications?: boolean
  /** Flags that Playwright would add. */
  without?: string[]
}

/** The browser profile is temporary and is deleted when the phone closes. */
export const launch = (
  more: string[] = [],
  { notifications = false, without = [] }: Launched = {},
): Promise<Browser> => {
  const program = !notifications && existsSync(shell) ? shell : undefined
  return chromium.launch({ ...options(more, program), ignoreDefaultArgs: without })
}

/** A browser with its profile in this folder, which other programs can drive too. */
export const launchProfile = (folder: string, more: string[]): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, { ...options(more), viewport: null })

export type Phone = {
  page: Page
  context: BrowserContext
  devtools: CDPSession
  authenticatorId: string
  /** Where the service is. */
  origins: string[]
  /** What the page must not cause: requests to other hosts, policy violations, script errors. */
  misdeeds: string[]
  tap(name: string): Promise<void>
  /** Waits for a screen with this heading. */
  sees(heading: string | RegExp): Promise<void>
  /** Whether the owner passes verification from now on. */
  setOwner(present: boolean): Promise<void>
}

/** Gives a page an authenticator; each page has its own. */
export const addAuthenticator = async (page: Page) => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { devtools, authenticatorId }
}

export const createPhone = async (
  browser: Browser,
  origin: string,
  colorScheme: 'light' | 'dark' = 'light',
  more: BrowserContextOptions = {},
): Promise<Phone> => {
  const context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    isMobile: true,
    hasTouch: true,
    colorScheme,
    reducedMotion: 'reduce',
    ...more,
  })
  context.setDefaultTimeout(patienceMs)
  const origins = [origin]
  const misdeeds: string[] = []
  context.on('request', (request) => {
    const url = new URL(request.url())
    // The link of a development service contains an IP address, which redirects to localhost.
    url.hostname = url.hostname.replace('127.0.0.1', 'localhost')
    if (!origins.includes(url.origin)) misdeeds.push(`request to ${url}`)
  })
  await context.exposeFunction('tellBreach', (text: string) => misdeeds.push(text))
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', (e) => tellBreach(e.violatedDirective + ' breached by ' + e.blockedURI))`,
  )
  const page = await context.newPage()
  page.on('pageerror', ({ message }) => misdeeds.push(message))
  const { devtools, authenticatorId } = await addAuthenticator(page)
  return {
    page,
    context,
    devtools,
    authenticatorId,
    origins,
    misdeeds,
    tap: (name) => page.getByRole('button', { name, exact: true }).click(),
    sees: (name) => page.getByRole('heading', { level: 1, name }).waitFor(),
    setOwner: async (isUserVerified) => {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
  }
}

/** From now on, the sessions of the phone have only their cookies, as if its device had signed too long ago. */
export const lapse = async ({ context }: Phone): Promise<void> => {
  const cookies = await context.cookies()
  for (const one of cookies) await context.addCookies([{ ...one, value: one.value.split('.')[0]! }])
}
