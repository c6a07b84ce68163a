import { describe, expect, test } from 'vitest'
import { installHooks, open, stage } from './open-stage.ts'

installHooks()

describe('enrollment', () => {
  test('registers a phone, and removes the token from the address once it is used', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.sees('Hello Ada')
    await phone.page.getByLabel('Name of this device').fill('Pixel of Ada')
    await phone.tap('Register this device')
    await phone.sees('This device is registered')
    expect(phone.page.url()).toBe(`${stage.origin}/approver`)
    const path = `/svc/v1/organizations/${stage.org.id}/users/${user.id}/devices`
    const { body } = await stage.service.call('GET', path)
    expect(body.data).toMatchObject([{ name: 'Pixel of Ada', kind: 'phone', revoked_at: null }])
    expect(phone.misdeeds).toEqual([])
  })

  test('rejects a link that was already used, and says what to do', async () => {
    const user = await stage.person()
    const link = await stage.linkFor(user.id)
    const first = await stage.openPhone()
    await first.page.goto(link)
    await first.tap('Register this device')
    await first.sees('This device is registered')
    const second = await stage.openPhone()
    await second.page.goto(link)
    await expect(second.sees('This link was already used')).resolves.toBeUndefined()
    await second.page.getByText('tell your administrator right away').waitFor()
  })

  test('does not use up the link when verification fails', async () => {
    const user = await stage.person()
    const phone = await stage.openPhone()
    await phone.setOwner(false)
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await phone.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
    await phone.setOwner(true)
    await phone.tap('Register this device')
    await expect(phone.sees('This device is registered')).resolves.toBeUndefined()
  })

  test('tells a registered phone that it needs no link', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    await phone.page.goto(await stage.linkFor(user.id))
    await phone.tap('Register this device')
    await phone.sees('Already registered')
    await phone.tap('Open your requests')
    await expect(phone.sees('No open requests')).resolves.toBeUndefined()
  })
})

describe('a decision', () => {
  test('approves what was shown, after the device verified its owner', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user, { reason: 'Fixes the login outage', requester: 'CI' })
    await open(phone, request_id)
    expect(await phone.page.locator('h1').textContent()).toBe('Deploy 4.2')
    await phone.page.getByText('Not verified Calls itself CI').waitFor()
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
    await phone.tap('Done')
    await phone.sees('No open requests')
    expect(phone.misdeeds).toEqual([])
  })

  test('is based on the data, apart from the words of the requester', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const data = {
      organization: null,
      operation: 'updateGeofence',
      body: { name: 'HQ', radius: 300 },
      before: { radius: 150 },
    }
    const { request_id } = await stage.ask(user, { action: 'Tidy up', subject: { type: 'request', data } })
    await open(phone, request_id)
    expect(await phone.page.locator('h1').textContent()).toBe('Update geofence: HQ')
    expect(await phone.page.locator('del').textContent()).toBe('150')
    expect(await phone.page.locator('ins').textContent()).toBe('300')
    await phone.page.getByText('In the requester’s words (not verified)').waitFor()
    await phone.page.getByText('Tidy up').waitFor()
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
    expect(phone.misdeeds).toEqual([])
  })

  test('denies', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.tap('Deny')
    await phone.sees('Denied')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied', detail: null })
  })

  test('denies with a note, which the phone signs', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.tap('Deny with a note')
    await phone.page.getByLabel(/Note to the requester/).fill(' Nicht heute:\n"Freeze" – \u{1f9ca} ')
    await phone.tap('Deny')
    await phone.sees('Denied')
    await phone.page.getByText('Your note: Nicht heute: "Freeze" – \u{1f9ca}').waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({
      status: 'denied',
      note: 'Nicht heute: "Freeze" – \u{1f9ca}',
      attestation: { claims: { note: 'Nicht heute: "Freeze" – \u{1f9ca}' } },
    })
    expect(phone.misdeeds).toEqual([])
  })

  test('denies without a note if none is written', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.tap('Deny with a note')
    await phone.tap('Deny')
    await phone.sees('Denied')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied', detail: null })
  })

  test('denies and mutes an unexpected request', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.tap('This wasn’t me')
    await phone.tap('Deny and report')
    await phone.sees('Denied')
    expect((await stage.statusOf(request_id)).detail).toMatch(/did not expect/)
  })

  test('does not count without verification, and can be repeated', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    await phone.setOwner(false)
    await phone.tap('Approve')
    await phone.page.getByRole('alert').getByText('was cancelled or timed out').waitFor()
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'pending' })
    await phone.setOwner(true)
    await phone.tap('Approve')
    await phone.sees('Approved')
  })

  test('takes the number that the requester sees', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id, number } = await stage.ask(user, { number: true })
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.page.getByLabel('First digit').fill(number!)
    await phone.tap('Approve')
    await phone.sees('Approved')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'approved' })
  })

  test('allows one more attempt after a wrong number, then denies', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const { request_id, number } = await stage.ask(user, { number: true })
    const wrong = number === '11' ? '22' : '11'
    await open(phone, request_id)
    await phone.tap('Approve')
    await phone.page.getByLabel('First digit').fill(wrong)
    await phone.page.keyboard.press('Enter')
    await phone.page.getByRole('alert').getByText('One more try').waitFor()
    await phone.page.getByLabel('First digit').fill(wrong)
    await phone.tap('Approve')
    await phone.sees('Denied')
    expect(await stage.statusOf(request_id)).toMatchObject({ status: 'denied' })
  })

  test('marks invisible characters, and keeps the visible text as it is', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    // This service rejects most such text. Another one might not.
    const tower = '[U+0301]'.repeat(5)
    await phone.page.route('**/svc/v1/approver/sessions*', async (route) => {
      const response = await route.fetch()
      const text = (await response.text()).replaceAll(
        'Deploy 4.2',
        String.raw`Pay\u202e 12\u200b0 \ud83d\ude00x\u2800 e\u0301\u0302 e${String.raw`\u0301`.repeat(5)}`,
      )
      await route.fulfill({ response, body: text })
    })
    await phone.page.reload()
    const { request_id } = await stage.ask(user)
    await open(phone, request_id)
    expect(await phone.page.locator('h1').textContent()).toBe(
      `Pay[U+202E] 12[U+200B]0 😀x[U+2800] e\u0301\u0302 e${tower}`,
    )
    expect(await phone.page.locator('h1 .mark').allTextContents()).toEqual([
      '[U+202E]',
      '[U+200B]',
      '[U+2800]',
      tower,
    ])
    await phone.page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('marks the code of an invisible character in a subject, and breaks the line after that of a line break below the headline', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const data = { organization: null, operation: 'updateGeofence', body: { name: 'a\u202eb\nc \\u{1f600}' } }
    const { request_id } = await stage.ask(user, { subject: { type: 'request', data } })
    await open(phone, request_id)
    const shown = String.raw`a\u{202e}b\u{000a}c \u{1f600}`
    expect(await phone.page.locator('h1').textContent()).toBe(`Update geofence: ${shown}`)
    const below = shown.replace('{000a}', '{000a}\n')
    expect(await phone.page.locator('.signed dd').nth(1).textContent()).toBe(below)
    expect(await phone.page.locator('h1 .mark').allTextContents()).toEqual(['\\u{202e}', '\\u{000a}'])
  })

  test('shows the exact text, without markup', async () => {
    const user = await stage.person()
    const phone = await stage.enrolled(user)
    const action = '<b>Pay</b>  12\n10'
    const { request_id } = await stage.ask(user, { action, reason: 'é <img src=x>' })
    await open(phone, request_id)
    expect(await phone.page.locator('h1').textContent()).toBe(String.raw`<b>Pay</b>  12\u{000a}10`)
    expect(await phone.page.locator('.signed dd').first().textContent()).toBe(action)
    expect(await phone.page.locator('main img, main b').count()).toBe(0)
    expect(phone.misdeeds).toEqual([])
  })
})
