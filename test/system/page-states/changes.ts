import { fieldsOf, summaryOf } from '../../../src/receipt/subject-text.ts'
import type { Subject } from '../../../src/receipt/subject.ts'
import type { Steps, Way } from './way.ts'

// A change of svc itself. Its rule would have to ask this person alone, so the answers of the service are changed instead.

const match = { type: 'command', argv: ['terraform', '**', 'destroy', '**'], cwd: ['/srv/prod/**'] }
const change: Subject = {
  type: 'request',
  data: {
    organization: { id: '1', slug: 'acme' },
    operation: 'setRules',
    body: {
      name: 'destroy, merge',
      'group.dba': ['Ada Lovelace (user 1)', 'Grace Hopper (user 2)'],
      'rule.destroy.match': match,
      'rule.destroy.who': ['@dba', '@security:2'],
      'rule.merge.except': [{ tool: ['read_*'] }, { server: ['github'], arguments: { branch: ['main'] } }],
      'rule.merge.number': true,
    },
    before: {
      'group.dba': ['Grace Hopper (user 2)', 'Mary Jackson (user 3)'],
      'rule.destroy.match': { ...match, cwd: ['/srv/**'] },
      'rule.destroy.who': ['@dba'],
    },
  },
}

type Listed = {
  data: {
    sessions: { requests: { subject: object; origin: { via: string } }[]; waiting_reviews: string[] }[]
  }
}

export const changes = (way: Way): Steps => {
  const { stage, page } = way
  let id: string
  let toReview: string[] = []
  let review: object | undefined
  return {
    'request, a change of rules': async () => {
      const user = await way.enroll()
      await page.route('**/approver/sessions**', async (route) => {
        // The last of them still waits when the page is closed.
        const response = await route.fetch().catch(() => undefined)
        if (!response) return
        const json = (await response.json()) as Listed
        for (const one of json.data.sessions.flatMap(({ requests }) => requests)) {
          one.subject = { ...change, digest: '', summary: summaryOf(change), fields: fieldsOf(change) }
          one.origin.via = 'rule'
        }
        for (const session of json.data.sessions) session.waiting_reviews = toReview
        await route.fulfill({ response, json })
      })
      id = (await stage.ask(user)).request_id
      // The list may have been answered before the route.
      await way.goto()
      await page.locator('a.card').waitFor()
      await way.openCard()
    },
    'request, read to its end': () => way.readToEnd(),
    'request, exact text': () => way.press(page.locator('.signed summary')),
    'inbox, break-glass to review': async () => {
      await way.approve()
      await way.sees('request.approved')
      toReview = [id]
      await way.goto()
      await page.locator(`a[href="#decision=${id}"]`).waitFor()
    },
    'break-glass, to review': async () => {
      await page.route('**/approver/decisions/*', async (route) => {
        const response = await route.fetch()
        const { data, ...body } = (await response.json()) as { data: object }
        const people = {
          skipped: ['Ada Lovelace (user 1)'],
          told: ['Ada Lovelace (user 1)', 'Bob Boole (user 2)'],
        }
        const break_glass = { reason: 'prod down, INC-77', ...people, ...(review && { review }) }
        await route.fulfill({
          response,
          json: { ...body, data: { ...data, break_glass, can_review: !review } },
        })
      })
      await way.press(page.locator(`a[href="#decision=${id}"]`))
      await page.getByText(way.said('history.reviewOk')).waitFor()
    },
    'break-glass, disputing': async () => {
      await way.tap('history.reviewDispute')
      await way.tap('history.disputeNow')
      await way.seesProblem()
    },
    'break-glass, disputed': async () => {
      const note = 'The restore could have waited until the morning'
      review = { by: 'Bob Boole (user 2)', verdict: 'disputed', at: new Date().toISOString(), note }
      await way.goto(`#decision=${id}`)
      await page.locator('.content > p.problem').filter({ hasText: note }).waitFor()
    },
    'device, removing with what it added': async () => {
      await page.route('**/approver/devices', async (route) => {
        const response = await route.fetch()
        const { data, ...body } = (await response.json()) as { data: { devices: { id: string }[] } }
        const lost = { ...data.devices[0], id: '9999', name: 'Pixel 8' }
        const things = { devices: [{ name: 'Pixel 9' }], agents: [{ name: 'Robo Coder' }], more: false }
        const added = [{ by: lost.id, ...things }]
        await route.fulfill({
          response,
          json: { ...body, data: { ...data, devices: [...data.devices, lost], added } },
        })
      })
      await way.goto('#devices')
      await way.press(page.locator('[data-of="9999"] button').last())
      await page.locator('.editing input[type=checkbox]').waitFor()
    },
  }
}
