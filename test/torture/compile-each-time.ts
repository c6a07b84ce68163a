import { run } from '../../src/cli/main.ts'
import { runOnNode } from '../../src/cli/terminal/io-node.ts'
import { compileLevel } from '../../src/rules/level.ts'
import { checkLocation } from '../../src/rules/location.ts'
import { readOrganizationRules } from '../../src/service/policy/rules.ts'
import { handlers } from '../../src/service/handlers/all.ts'

// The negative control of noisy-tenant.ts: a service that compiles the rules for each check of a location.
handlers.checkGeofence = async ({ org_id, accuracy_m = 0, ...place }, { db, now }) => {
  const { organization } = await readOrganizationRules(db, org_id)
  const levels = { organization, user: compileLevel({ fences: [], slots: [] }) }
  return { factor: 'location', ...checkLocation(levels, { ...place, accuracy_m, at: now }, now) }
}
const start = async (): Promise<void> => {
  process.exitCode = await runOnNode(process.argv.slice(2), run)
}
void start()
