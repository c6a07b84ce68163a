import * as z from 'zod/mini'
import { shownPerson } from './page.ts'
import { chosen, id, line, nullable, optional, positive } from './field.ts'
import { operations } from './declaration.ts'
import { givesChallenge, org_id, signedChallenge, time, user_id } from './records.ts'

// Mutes: an approver reported a requester, which cannot ask them again for a while. Under /svc/v1. spec: not shown

/** Only an administrator can end the mute of somebody else. */
const whose = optional(id, 'User who muted the requester; default: the signed-in person')
const mute_id = chosen(line(40), 'Mute id', { example: '3' })

export const muteRecord = z.looseObject({
  mute_id: chosen(z.string(), 'Mute id, unique for the user'),
  org_id: chosen(positive, 'Organization id'),
  user_id: chosen(id, 'User who muted the requester'),
  key_id: chosen(id, 'Muted key; 0 is the token of the tool server'),
  credential: chosen(z.string(), 'Name of the muted key or agent (verified)'),
  requester: nullable(
    z.string(),
    'The muted name, if several agents share the token of the tool server (claimed, not verified)',
  ),
  until: chosen(time, 'When the mute ends'),
})

export const mute = operations({
  listMutes: {
    route: 'GET /svc/v1/organizations/{org_id}/mutes',
    cli: 'approve mutes list',
    scope: 'read',
    summary: 'List requesters that approvers have reported, and that cannot ask them for a while',
    message: 'Mutes',
    example: '--org acme',
    input: z.strictObject({ org_id }),
    data: z.array(muteRecord),
    columns: ['user_id', 'mute_id', 'credential', 'requester', 'until'],
  },
  deleteMute: {
    route: 'DELETE /svc/v1/organizations/{org_id}/users/{user_id}/mutes/{mute_id}',
    cli: 'approve mutes delete',
    scope: 'people',
    summary: 'Let a muted requester ask an approver again; requests that ended stay ended',
    message: 'Mute deleted',
    example: '7 3 --org acme --yes',
    input: z.strictObject({ org_id, user_id, mute_id }),
  },
  listOwnMutes: {
    route: 'GET /svc/v1/approver/mutes',
    summary: 'List the requesters that the signed-in person has muted',
    message: 'Mutes',
    data: z.looseObject({ mutes: chosen(z.array(muteRecord), 'Mutes, the first to end first') }),
  },
  listOrganizationMutes: {
    route: 'GET /svc/v1/approver/organization/mutes',
    summary: 'List the requesters that members of the organization have muted, for an administrator',
    message: 'Mutes',
    data: z.looseObject({
      mutes: chosen(
        z.array(z.extend(muteRecord, { member: chosen(shownPerson, 'Who muted the requester') })),
        'Mutes, the first to end first',
      ),
    }),
  },
  beginUnmute: {
    route: 'POST /svc/v1/approver/mutes/{mute_id}/challenge',
    ...givesChallenge,
    summary: 'Get a challenge for letting a muted requester ask again',
    input: z.strictObject({ mute_id, user_id: whose }),
  },
  unmute: {
    route: 'POST /svc/v1/approver/mutes/{mute_id}/end',
    equals: 'approve mutes delete',
    summary: 'Let a muted requester ask again, signed by the device of the session',
    message: 'Mute ended',
    input: z.strictObject({ mute_id, user_id: whose, ...signedChallenge }),
  },
})
