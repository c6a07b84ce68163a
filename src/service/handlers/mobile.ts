import type { account } from '../../contract/account.ts'
import type { mobile } from '../../contract/mobile.ts'
import type { Handlers } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { sendOtp } from '../devices/otp.ts'
import { prepareConfirmation } from '../mobile/confirmation.ts'
import { resendEmailVerification } from '../mobile/email-link.ts'
import { getEnrollmentStatus, isEnrolled } from '../mobile/enrollment.ts'
import { assignOrganization, checkOrganization } from '../mobile/joining.ts'
import { accountScope } from '../mobile/person.ts'
import { checkImei, getMobileUser, updateProfile } from '../mobile/profile.ts'
import { registerMobileUser } from '../mobile/registration.ts'
import { prepareSupport } from '../mobile/support.ts'
import { prepareRefresh } from '../mobile/tokens.ts'
import { saveFaceauthSuccess } from '../verifications/token.ts'

export const mobileHandlers: Handlers<typeof mobile> = {
  registerMobileUser,
  sendOtp: (input, call) =>
    sendOtp(call, {
      org_id: accountScope(call),
      mobile: parsePhone(input.mobile, input.country_code).mobile,
    }),
  confirmRegistration: { before: prepareConfirmation },
  refreshMobileToken: { before: prepareRefresh },
  contactSupport: { before: prepareSupport },
  saveFaceauthSuccess,
}

export const accountHandlers: Handlers<typeof account> = {
  getEnrollmentStatus,
  isEnrolled,
  checkImei,
  assignOrganization,
  checkOrganization,
  resendEmailVerification,
  updateProfile,
  getMobileUser,
}
