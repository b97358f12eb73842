import { ERROR_REASONS } from '@backoffice/contracts/error-reasons.ts'
import { ERROR_STATUS, type ErrorCode } from '@backoffice/contracts/errors.ts'

const INTRODUCTION = `# Errors

Every refusal has the body \`{"error": {"code", "message", "request_id"}}\`. The header \`Error-Reason\` says more than the code, for programs, and
\`Link\` with \`rel="help"\` leads to its section here. Codes may get more reasons: take one that you do not know for its code.`

const ORIGIN = `\`npm run generate:api\` writes this page.`

/** The text of docs/errors.md. */
export function errorsDocument(): string {
  const sections = Object.entries(ERROR_REASONS).map(([code, reasons]) => {
    const status = ERROR_STATUS[code as ErrorCode]
    // No two headings have one anchor: two codes may have one reason, and a reason the name of its code.
    const ofReasons = Object.entries(reasons).map(([reason, text]) => `### \`${reason}\` (${status})\n\n${text}`)
    return [`## ${status} \`${code}\``, ...ofReasons]
  })
  return `${[INTRODUCTION, ...sections.flat(), ORIGIN].join('\n\n')}\n`
}
