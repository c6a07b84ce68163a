import { run } from '../../src/cli/main.ts'
import { runOnNode } from '../../src/cli/terminal/io-node.ts'
import { compileLevel } from '../../src/factors/level.ts'
import { checkLocation } from '../../src/factors/location.ts'
import { readOrganizationFactors } from '../../src/service/policy/factor-settings.ts'
import { handlers } from '../../src/service/handlers/all.ts'

// The negative control of noisy-tenant.ts: a service that compiles the rules for each check of a location.
handlers.checkGeofence = async ({ org_id, accuracy_m = 0, ...place }, { db, now }) => {
  const { organization } = await readOrganizationFactors(db, org_id)
  const levels = { organization, user: compileLevel({ fences: [], slots: [] }) }
  return { factor: 'location', ...checkLocation(levels, { ...place, accuracy_m, at: now }, now) }
}
const start = async (): Promise<void> => {
  process.exitCode = await runOnNode(process.argv.slice(2), run)
}
void start()
