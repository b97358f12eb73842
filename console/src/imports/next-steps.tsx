import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components, download } from '../api/client.ts'
import { ApiAct, counted, useAction } from '../parts/action.tsx'
import type { Summary } from './report.tsx'
import { isMoving, isWaiting } from './states.ts'

type Import = components['schemas']['Import']

/** What can be done with an import as it stands. */
export function NextSteps({ of: one, summary }: { readonly of: Import; readonly summary?: Summary }) {
  const path = { id: one.id }
  const { valid_rows = 0, invalid_rows = 0, failed = 0 } = summary ?? {}
  const isBad = one.status === 'INVALID' || (invalid_rows + failed > 0 && !isMoving(one))
  return (
    <>
      {isBad && invalid_rows + failed > 0 && <Correct of={one} />}
      <div className="actions">
        {isWaiting(one) && valid_rows > 0 && (
          <ApiAct
            needs="import::create"
            className={one.status === 'VALIDATED' ? 'primary' : undefined}
            question={
              one.status === 'INVALID'
                ? `Import ${counted(valid_rows, 'row')} now and leave out ${counted(invalid_rows, 'bad row')}?`
                : undefined
            }
            act={() => {
              const skips = one.status === 'INVALID' ? { skip_invalid: 'true' as const } : {}
              return bodyOf(api.POST('/v1/imports/{id}/start', { params: { path, query: skips } }))
            }}
            done="The import has begun."
            changes={['imports']}
          >
            Import {counted(valid_rows, one.status === 'INVALID' ? 'good row' : 'row')}
          </ApiAct>
        )}
        {(isWaiting(one) || (isMoving(one) && one.status !== 'CANCELLED')) && (
          <ApiAct
            needs="import::create"
            question={one.status === 'IMPORTING' ? 'Stop the import? What is applied by now stays.' : undefined}
            act={() => bodyOf(api.POST('/v1/imports/{id}/cancel', { params: { path } }))}
            done="The import is cancelled."
            changes={['imports']}
          >
            {one.status === 'IMPORTING' ? 'Stop' : 'Cancel the import'}
          </ApiAct>
        )}
      </div>
    </>
  )
}

/** The way from bad rows to good ones. */
function Correct({ of: { id, file, template } }: { readonly of: Import }) {
  const save = useAction(() => download(`/v1/imports/${id}/corrected.csv`, `to correct ${file}`), {
    done: 'The bad rows are saved. Their last column says what is wrong.',
  })
  return (
    <>
      <p>
        Download the bad rows, correct them in a spreadsheet (the column <code>error</code> says what is wrong), and
        upload that file.
      </p>
      <div className="actions">
        <button type="button" className="primary" disabled={save.isPending} onClick={() => save.mutate()}>
          Download the bad rows
        </button>
        <Link to="/imports/new" search={{ template }} className="button">
          Upload the corrected file
        </Link>
      </div>
    </>
  )
}
