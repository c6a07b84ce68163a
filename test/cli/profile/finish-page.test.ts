import { afterEach, expect, test } from 'vitest'
import { receiveRedirect } from '../../../src/cli/profile/browser.ts'
import { texts } from '../../../src/cli/profile/finish-page.ts'
import { languages } from '../../../src/page/language/languages.ts'

const stop = new AbortController()
let close: (() => void) | undefined
afterEach(() => close?.())

/** What a browser with these languages gets, after it was sent back with this query. */
const sentBack = async (query: string, accepted: string) => {
  const receiver = await receiveRedirect(stop.signal)
  close = receiver.close
  const ended = receiver.received({ state: 's', issuer: 'http://svc' }).catch((error: Error) => error)
  const answer = await fetch(receiver.redirect_uri + query, { headers: { 'accept-language': accepted } })
  return { status: answer.status, headers: answer.headers, html: await answer.text(), ended }
}

const yes = '?state=s&iss=http%3A%2F%2Fsvc&code=c'

test('a sign-in ends on a page in the first language of the browser that there is', async () => {
  const { html, ended } = await sentBack(yes, 'nl-NL,nl;q=0.9,ar-EG;q=0.8,de;q=0.7')
  expect(html).toContain('<html lang="ar" dir="rtl">')
  expect(html).toContain(texts.ar.signedIn[0])
  expect(await ended).toBe('c')
})

test('a denied one says so in the language of the browser, and nothing that the address says', async () => {
  const { html, ended } = await sentBack('?state=s&iss=http%3A%2F%2Fsvc&error=access_denied%3Cb%3E', 'de-AT')
  expect(html).toContain(`>${texts.de.refused[0]}</h1>`)
  expect(html).not.toContain('access_denied')
  expect(await ended).toBeInstanceOf(Error)
})

test('anything else at the port is not found, in English if the browser names no language', async () => {
  const { status, html } = await sentBack('?state=other', '')
  expect([status, html]).toEqual([404, expect.stringContaining(texts.en.nothing[0])])
})

test('the page loads nothing, and its address, which has the code, is passed on to nobody', async () => {
  const { html, headers } = await sentBack(yes, 'ja')
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^ ]+';/)
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(html).not.toMatch(/<(?:script|link|img)|url\(/)
})

test('it has the languages of the approver page', () => {
  expect(Object.keys(texts)).toEqual(Object.keys(languages))
})
