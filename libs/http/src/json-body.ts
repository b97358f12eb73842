import { isUtf8 } from 'node:buffer'
import { badRequest } from '@backoffice/contracts/errors.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import { parse } from 'secure-json-parse'

/**
 * Parses a JSON request body. Throws `bad_request` for what no schema may see: invalid UTF-8, malformed JSON, `__proto__`
 * keys, more than 32 levels (OP-07), and strings that PostgreSQL cannot keep (NUL, unpaired surrogates).
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw badRequest('body: is not valid UTF-8')
  const value = parseText(bytes.toString('utf8'))
  refuseUnstorable(value)
  return value
}

function parseText(text: string): unknown {
  try {
    return parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw badRequest(
      reason === 'Object contains forbidden prototype property'
        ? 'body: must not contain __proto__ or constructor.prototype'
        : `body: malformed JSON: ${reason}`,
    )
  }
}
