import { type OperationId, table } from '../contract/table.ts'

// The commands that a call amounts to. A rule that holds one of them holds the call.

type Fields = Readonly<Record<string, unknown>>

const listOf = (input: Fields, field: string): readonly Fields[] => {
  const value = input[field]
  return Array.isArray(value) ? (value as Fields[]) : []
}

/** A change of several rules and groups does what the commands for one of them do. */
const ofSeveral = (input: Fields): string[] => {
  const groups = listOf(input, 'groups')
  const isGone = ({ members }: Fields): boolean => Array.isArray(members) && members.length === 0
  const [gone, changed] = [groups.some(isGone), groups.some((one) => !isGone(one))]
  return [
    ...(changed ? ['group create', 'group add', 'group remove'] : []),
    ...(gone ? ['group delete'] : []),
    // Whoever replaces a rule deletes what it said.
    ...(listOf(input, 'rules').length > 0 ? ['rule create', 'rule delete'] : []),
    ...(Array.isArray(input['removed']) && input['removed'].length > 0 ? ['rule delete'] : []),
  ]
}

/** The words of each command that a call with this input amounts to, its own first. */
export const commandsOf = (id: OperationId, input: Fields): string[] => {
  const { cli } = table[id]
  const appoints = cli.startsWith('user ') && ['admin', 'operator'].includes(String(input['role']))
  return [
    cli,
    ...(appoints ? ['user make-admin'] : []),
    // Whoever asked to join becomes a member, and gets a link to register a phone.
    ...(id === 'acceptUser' ? ['user create', 'user enroll'] : []),
    ...(id === 'setRules' ? ofSeveral(input) : []),
  ]
}
