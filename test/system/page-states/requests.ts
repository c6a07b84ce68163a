import { decide, enroll } from '../../service/approver.ts'
import { dataOf } from '../../service/fixtures.ts'
import type { Person, Steps, Way } from './way.ts'

const command = {
  argv: ['kubectl', '--context', 'production-eu-central-1', 'delete', 'namespace', 'billing', '--wait=false'],
  cwd: '/srv/deployments/billing/production/2026-11-22T14-02-11Z',
  executable: { path: '/usr/local/bin/kubectl', sha256: '0f6b5c1d'.repeat(8) },
  files: [],
  environment: { passed: ['HOME', 'PATH'], set: { KUBECONFIG: '/etc/kube/production.yaml' } },
}

const reason =
  'The namespace has had no traffic for 90 days and costs about 400 EUR a month. The data was exported yesterday, and the owner of the billing service agreed.'

const update = {
  organization: null,
  operation: 'updateGeofence',
  body: { name: 'Headquarters', radius: 300 },
  before: { radius: 150 },
}

/** A slot that is not open on any day of this week. */
const closed = () => {
  const day = new Date(Date.now() + 2 * 24 * 60 * 60_000).toLocaleDateString('en', {
    weekday: 'short',
    timeZone: 'UTC',
  })
  return {
    name: 'Night shift',
    days: [day.toLowerCase()],
    start: '03:00',
    end: '03:01',
    timezone: 'UTC',
    is_active: 1,
  }
}

export const decisions = (way: Way): Steps => {
  const { stage, phone, page, sees, tap } = way
  let user: Person
  return {
    'inbox, one request': async () => {
      user = await way.enroll()
      await stage.ask(user, { reason: 'Fixes the login outage', requester: 'GitHub Actions', number: true })
      await page.locator('a.card').waitFor()
    },
    request: () => way.openCard(),
    'request, not me': () => tap('request.notMe'),
    'request, note': async () => {
      await tap('common.back')
      await tap('request.denyWithNote')
      await page.locator('#note').waitFor()
    },
    'request, number': async () => {
      await tap('common.back')
      await tap('common.approve')
      await page.getByRole('heading', { name: way.said('request.enterNumber') }).waitFor()
    },
    'request, no number': async () => {
      await tap('common.approve')
      await way.seesProblem()
    },
    denied: async () => {
      await tap('common.deny')
      await sees('request.denied')
    },
    'denied, report': () => tap('request.notMe'),
    'inbox, many requests': async () => {
      await way.done()
      await stage.ask(user, { action: 'Release 4.2 to production', requester: 'GitHub Actions' })
      await stage.ask(user, { subject: { type: 'command', data: command }, action: 'Clean up', reason })
      await stage.ask(user, { subject: { type: 'request', data: update }, action: 'Tidy up' })
      await page.locator('a.card').nth(2).waitFor()
    },
    'request, long': () => way.openCard(1),
    'request, check cancelled': async () => {
      await phone.setOwner(false)
      await way.approve()
      await way.seesProblem()
      await phone.setOwner(true)
    },
    approved: async () => {
      await way.approve()
      await sees('request.approved')
    },
    history: async () => {
      await way.done()
      await way.goto('#history')
      await page.locator('.end').first().waitFor()
    },
    'history, allowed again': async () => {
      await page.route('**/approver/decisions', async (route) => {
        const response = await route.fetch()
        const { data, ...body } = (await response.json()) as { data: object }
        const ends_at = new Date(Date.now() + 3_600_000).toISOString()
        const same = { credential: 'deploy-agent', uses: 20, ends_at }
        const grants = [
          { ...same, request_id: 'a', what: 'Run kubectl delete pod web-1', varying: ['web-1'], used: 3 },
          { ...same, request_id: 'b', what: 'Run make release', varying: [], used: 0 },
        ]
        await route.fulfill({ response, json: { ...body, data: { ...data, grants } } })
      })
      await way.goto('#history')
      await page.getByText('Run make release').waitFor()
    },
    'history, decision': async () => {
      await page.unroute('**/approver/decisions')
      await way.press(page.locator('main a[href^="#decision"]').first())
      await page.locator('.result').waitFor()
    },
    'request, change': async () => {
      await way.goto()
      await page.locator('a.card').first().waitFor()
      await way.openCard(1)
      await page.locator('ins').waitFor()
    },
    'inbox, several people': async () => {
      user = await way.enroll()
      const { service, org } = stage
      const colleague = await stage.person({ first_name: 'Emmy', last_name: 'Noether' })
      const { key } = await enroll(service, org.id, String(colleague.id))
      const ask = async (approvers: string[]): Promise<string> => {
        const body = { action: 'Drop the table of invoices', approvers, org_id: org.id }
        return dataOf(await service.call('POST', '/svc/v1/approvals', { body })).request_id
      }
      const id = await ask([colleague.mobile_e164])
      dataOf(await decide(service, id, key, { decision: 'deny', note: 'Not before the backup' }))
      await ask([user.mobile_e164, colleague.mobile_e164])
      await page.locator('a.card').waitFor()
    },
    'request, several people': () => way.openCard(),
    'approved, others still have to': async () => {
      await way.approve()
      await sees('request.waitingOthers')
    },
  }
}

/** Requests that the approver does not decide, or not as they wish. */
export const endings = (way: Way): Steps => {
  const { stage, page, sees, tap, goto } = way
  let user: Person
  const opened = async (more: object = {}): Promise<string> => {
    const { request_id } = await stage.ask(user, more)
    await goto(`#request=${request_id}`)
    await page.getByRole('button', { name: way.said('common.approve') }).waitFor()
    return request_id
  }
  return {
    withdrawn: async () => {
      user = await way.enroll()
      const id = await opened()
      await stage.service.call('POST', `/svc/v1/approvals/${id}/withdraw`, { body: {} })
      await sees('request.withdrawn')
    },
    expired: async () => {
      // On a slow machine it ends before it is opened, and the screen is the same.
      const { request_id } = await stage.ask(user, { lifetime_s: 2 })
      await goto(`#request=${request_id}`)
      await sees('request.expired')
    },
    missing: async () => {
      await goto('#request=apr_nothing')
      await sees('request.missing')
    },
    'request, would be refused': async () => {
      const path = `/user/${user.id}/timeslots/update`
      await stage.service.call('PUT', path, { body: { timeslots: [closed()] } })
      await opened()
      await page.locator('.warning:not(:empty)').first().waitFor()
    },
    'not approved': async () => {
      await tap('common.approve')
      await sees('request.notApproved')
    },
    'request, no connection': async () => {
      await opened()
      await way.phone.context.setOffline(true)
      await tap('common.deny')
      await page.getByText(way.said('request.resultOffline')).waitFor()
    },
    'inbox, no connection': async () => {
      await way.phone.context.setOffline(false)
      // The decision never arrived.
      await way.seesProblem()
      await tap('common.deny')
      await sees('request.denied')
      await way.done()
      await way.phone.context.setOffline(true)
      await stage.ask(user)
      await page.locator('#offline:not(:empty)').waitFor()
    },
    'inbox, no connection and nothing known': async () => {
      await way.phone.context.setOffline(false)
      await way.enroll()
      await way.phone.context.setOffline(true)
      await sees('common.noConnection')
    },
    'no connection': async () => {
      await page.evaluate('navigator.serviceWorker.ready.then(() => true)')
      await page.reload()
      await sees('common.noConnection')
      await way.phone.context.setOffline(false)
    },
  }
}
