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
      groups: ['dba: Ada Lovelace (user 1), Grace Hopper (user 2)'],
      'rule.destroy.match': match,
      'rule.destroy.who': ['@dba', '@security:2'],
      'rule.merge.except': [{ tool: ['read_*'] }, { server: ['github'], arguments: { branch: ['main'] } }],
      'rule.merge.number': true,
    },
    before: {
      groups: ['dba: Grace Hopper (user 2)'],
      'rule.destroy.match': { ...match, cwd: ['/srv/**'] },
      'rule.destroy.who': ['@dba'],
    },
  },
}

type Listed = { data: { sessions: { requests: { subject: object; origin: { via: string } }[] }[] } }

export const changes = (way: Way): Steps => {
  const { stage, page } = way
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
        await route.fulfill({ response, json })
      })
      await stage.ask(user)
      // The list may have been answered before the route.
      await way.goto()
      await page.locator('a.card').waitFor()
      await way.openCard()
    },
    'request, read to its end': () => way.readToEnd(),
    'request, exact text': () => way.press(page.locator('.signed summary')),
  }
}
