import { hasApprovals } from '../../client/rest-gateway.ts'
import { createVerifyCalls } from '../../client/verify-calls.ts'
import { testVerify } from '../../client/verify-test.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { maskPhone } from '../terminal/mask.ts'
import { requireYes } from '../operation/confirm.ts'
import { partsOf } from '../../core/phone-parts.ts'
import { requireProfile, type Settings } from '../context/settings.ts'
import { createStore } from '../context/profile-store.ts'
import { ok, warn, type Finding } from './finding.ts'

type Options = { yes?: boolean; sleep?(ms: number, signal?: AbortSignal): Promise<void> }

/** The /verify-user fallback, if the profile turned it on. */
export const checkFallback = ({ verifyFallback, baseUrl, profile }: Settings): Finding[] => {
  const check = 'verify fallback'
  if (verifyFallback === 'off') return []
  return [
    verifyFallback === 'on'
      ? ok(check, `tested for ${baseUrl.value}`)
      : warn(
          check,
          `not used: ${baseUrl.value} was not tested`,
          `svc doctor --profile ${shellQuote(profile.value)} --verify-fallback +12025550101`,
        ),
  ]
}

/**
 * Sends a prompt that a person leaves unanswered, and records in the profile that this address never reported a success
 * in that time. Without this test, svc does not accept its reports as approvals.
 */
export const testFallback = async (mobile: string, options: Options, context: Context): Promise<void> => {
  const { io } = context
  const phone = partsOf(mobile)
  const { profile, baseUrl } = await context.settings()
  const store = createStore(io)
  const saved = requireProfile(store.read(), profile.value)
  if (saved.base_url !== baseUrl.value)
    throw usageError(
      `The test requires the address of the profile ${profile.value}, not ${baseUrl.value}`,
      `svc profile set ${shellQuote(profile.value)} ${shellQuote(`base_url=${baseUrl.value}`)}`,
    )
  const client = await context.client()
  if (await hasApprovals(client))
    throw new SvcError('refused', 'has_approvals', `${baseUrl.value} has approvals and needs no fallback`)
  await requireYes(
    `Send a prompt to ${context.globals.reveal ? mobile : maskPhone(mobile)} now? The person must leave it unanswered, up to 10 minutes`,
    {
      yes: options.yes,
      unasked:
        'svc doctor --verify-fallback sends a prompt to a person, who must know about it: --yes confirms that they do',
      declined: 'No prompt was sent',
    },
    context,
  )
  const output = await context.output()
  output.note('Waiting until the prompt expires, 10 minutes at most; leave it unanswered')
  const tested = await testVerify({
    calls: createVerifyCalls(client),
    mobile: `${phone.country_code}${phone.mobile}`,
    phone,
    signal: io.signal,
    now: () => io.now(),
    sleep: options.sleep,
  })
  await store.update((file) => {
    const current = requireProfile(file, profile.value)
    delete current.verify_fallback
    delete current.verify_tested_url
    delete current.verify_tested_at
    if (!tested.passed) return
    current.verify_tested_url = baseUrl.value
    current.verify_tested_at = io.now().toISOString()
  })
  if (!tested.passed)
    throw new SvcError('failed', 'fallback_unusable', `${baseUrl.value} cannot be trusted: ${tested.why}`, {
      hint: 'Set SVC_MCP_URL to its tool server; svc approve request --mcp uses it',
    })
  await output.report(
    `None of ${tested.answers} answers to an open prompt was a success; svc profile set ${shellQuote(profile.value)} verify_fallback=true turns the fallback on`,
  )
}
