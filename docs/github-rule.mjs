// A deployment protection rule of GitHub: people approve each deployment with svc, and no runner waits for them.
import { createHash, createHmac, sign, timingSafeEqual } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createClient, SvcError, watchApproval } from 'svc-library'

const github = ['GITHUB_APP_ID', 'GITHUB_KEY_FILE', 'GITHUB_SECRET_FILE']
const needed = [...github, 'SVC_BASE_URL', 'SVC_ASK_KEY_FILE', 'STATE_DIR', 'PORT']
const missing = needed.filter((name) => !process.env[name])
if (missing.length > 0) throw new Error(`Not set: ${missing.join(', ')}`)
const { GITHUB_API = 'https://api.github.com', GITHUB_APP_ID: iss, STATE_DIR, PORT } = process.env
const [secret, appKey] = ['SECRET', 'KEY'].map((name) => readFileSync(process.env[`GITHUB_${name}_FILE`]))
if (secret.length < 16) throw new Error('The webhook secret must have at least 16 characters')
const client = createClient({ baseUrl: process.env.SVC_BASE_URL, apiKeyFile: process.env.SVC_ASK_KEY_FILE })
// Rules of the organization say who must approve. A development service proves no person.
const trust = { approvers: [], expected: { allowDev: process.env.ALLOW_DEV === 'yes' } }
const fileOf = ({ id }) => `${STATE_DIR}/${id}.json`
const jobOf = ({ deployment, environment, deployment_callback_url: url, repository, installation }) => {
  const id = createHash('sha256').update(`${url} ${environment} ${deployment.id}`).digest('hex')
  const run = `${repository.html_url}/actions/runs/${/\/runs\/(\d+)\//.exec(url)[1]}`
  const what = { environment, ref: deployment.ref, sha: deployment.sha, run }
  const subject = { type: 'tool_call', data: { server: 'GitHub', tool: 'deploy', arguments: what } }
  return { id, url, environment, subject, installation: installation.id }
}
// Asks, or finds what was asked before a restart. A proven approval, used up, is the only yes. Throws what may pass.
const ask = async ({ id, subject }) => {
  try {
    const { request_id } = await client.createApproval({ subject }, { idempotencyKey: id })
    const ended = await watchApproval(client, request_id, { wanted: { subject }, ...trust })
    const comment = `${ended.status} (${request_id}): ${ended.request.detail ?? 'the receipt is valid'}`
    if (ended.status !== 'approved') return { state: 'rejected', comment }
    await client.consumeApproval({ request_id, digest: ended.digest }, { idempotencyKey: `${id} use` })
    return { state: 'approved', comment }
  } catch (error) {
    if (error.exit === 'unreachable' || error.http_status >= 429 || !(error instanceof SvcError)) throw error
    return { state: 'rejected', comment: error.message }
  }
}
const post = async (url, token, content) => {
  const headers = { accept: 'application/vnd.github+json', authorization: `Bearer ${token}` }
  const sent = { method: 'POST', headers, body: JSON.stringify(content), redirect: 'error' }
  const response = await fetch(url, { ...sent, signal: AbortSignal.timeout(30_000) })
  // 404 and 422: the run was cancelled, or has its answer.
  if (!response.ok && ![404, 422].includes(response.status)) throw new Error(`GitHub: ${response.status}`)
  return response.text()
}
const encoded = (part) => Buffer.from(JSON.stringify(part)).toString('base64url')
const work = async (job, seconds = 1) => {
  try {
    const outcome = await ask(job)
    const iat = Math.floor(Date.now() / 1000) - 60
    const claims = { iat, exp: iat + 600, iss }
    const unsigned = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`
    const jwt = `${unsigned}.${sign('RSA-SHA256', Buffer.from(unsigned), appKey).toString('base64url')}`
    const granted = await post(`${GITHUB_API}/app/installations/${job.installation}/access_tokens`, jwt, {})
    await post(job.url, JSON.parse(granted).token, { environment_name: job.environment, ...outcome })
    rmSync(fileOf(job))
  } catch (error) {
    console.error(`${job.url}: ${error.message}; again in ${seconds} s`)
    setTimeout(work, seconds * 1000, job, Math.min(2 * seconds, 60))
  }
}
const receive = (headers, body) => {
  const signature = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(headers['x-hub-signature-256'] ?? '')
  if (given.length !== signature.length || !timingSafeEqual(given, signature)) return 401
  if (headers['x-github-event'] !== 'deployment_protection_rule') return 204
  const job = jobOf(JSON.parse(body))
  if (existsSync(fileOf(job))) return 202
  writeFileSync(`${fileOf(job)}.new`, JSON.stringify(job), { flush: true, mode: 0o600 })
  renameSync(`${fileOf(job)}.new`, fileOf(job)) // it stays until GitHub has its answer
  work(job)
  return 202
}
for (const name of readdirSync(STATE_DIR).filter((one) => one.endsWith('.json')))
  work(JSON.parse(readFileSync(`${STATE_DIR}/${name}`)))
createServer(async (request, response) => {
  const status = request.toArray().then((chunks) => receive(request.headers, Buffer.concat(chunks)))
  response.writeHead(await status.catch(() => 400)).end()
}).listen(PORT, '127.0.0.1')
