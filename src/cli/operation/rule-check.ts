import { fieldsIn } from '../../client/answer-data.ts'
import { geofence } from '../../contract/geofence.ts'
import { timeslot } from '../../contract/timeslot.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { extended } from './operation-command.ts'

/** Gives `svc geofence check` and `svc timeslot check` an exit code for scripts: 1 if the rule does not pass. */
export const ruleChecks = extended(
  [geofence.checkGeofence, timeslot.checkTimeslot],
  (context) => ({
    afterShown: (answer) => {
      const { result } = fieldsIn(answer)
      if (result !== 'PASS' && result !== 'NOT_APPLICABLE') context.exitCode = exitCode('failed')
    },
  }),
  { note: 'Exits with 0 if it passes and with 1 if it does not.' },
)
