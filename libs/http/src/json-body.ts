import { isUtf8 } from 'node:buffer'
import { badRequest } from '@backoffice/contracts/errors.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import { parse } from 'secure-json-parse'

/** Throws `bad_request` for malformed JSON or UTF-8, `__proto__`, 32 levels (OP-07) and what cannot be stored. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw badRequest(['body'], 'is not valid UTF-8', 'malformed_request')
  const value = parseText(bytes.toString('utf8'))
  refuseUnstorable(value)
  return value
}

function parseText(text: string): unknown {
  try {
    return parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    // Without the piece of the body that V8 quotes: it may be of a secret, and the message goes to the log.
    const reason = error instanceof Error ? error.message.replace(/, (?:\.{3})?".*$/s, '') : ''
    throw badRequest(
      ['body'],
      reason === 'Object contains forbidden prototype property'
        ? 'must not contain __proto__ or constructor.prototype'
        : `malformed JSON: ${reason}`,
      'malformed_request',
    )
  }
}
