import { aCaller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { importsApi } from '../testing/imports-api.ts'

const { admin, send, upload } = await importsApi()

describeWalks('imports', {
  send,
  async list() {
    const caller = aCaller()
    for (let n = 0; n < 10; n++) await upload(caller)
    return {
      caller,
      path: '/v1/imports',
      foreign: (await upload(aCaller())).body.id,
      insert: () => upload(caller),
      change: (id) => admin`update import set status = 'CANCELLED' where id = ${id}`,
    }
  },
})
