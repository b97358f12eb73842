import { aFile, form } from '@backoffice/testing/form.ts'

/** The form of an upload. */
export const uploadOf = (content: Buffer, fileName: string): Buffer =>
  form(aFile(content, { fileName, type: 'application/octet-stream' }))
