import { fieldsIn } from '../../client/answer-data.ts'
import { geofence } from '../../contract/geofence.ts'
import { timeslot } from '../../contract/timeslot.ts'
import type { Operation } from '../../contract/operation.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { type Extension, type Extensions, withExtras } from './operation-command.ts'

const ruleCheck = (operation: Operation): Extension => ({
  note: 'Exits with 0 if it passes and with 1 if it does not.',
  ...withExtras(operation, (context) => ({
    afterShown: (answer) => {
      const { result } = fieldsIn(answer)
      if (result !== 'PASS' && result !== 'NOT_APPLICABLE') context.exitCode = exitCode('failed')
    },
  })),
})

/** Gives `svc geofence check` and `svc timeslot check` an exit code for scripts: 1 if the rule does not pass. */
export const ruleChecks: Extensions = new Map(
  [geofence.checkGeofence, timeslot.checkTimeslot].map((operation) => [operation, ruleCheck(operation)]),
)
