import { Link, useNavigate } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { OpenButton } from '../parts/action.tsx'
import { Edit } from '../parts/edit.tsx'
import { List, useList } from '../parts/list.tsx'
import { Empty, Page } from '../parts/page.tsx'
import { Picture } from '../parts/picture.tsx'
import type { Column } from '../parts/table.tsx'
import { Long, Time } from '../parts/text.tsx'
import { type Collection, membershipWords, sortWords, useCollections, Visibility } from './collection.tsx'

const SHOWN: readonly Column<Collection>[] = [
  { head: 'Image', cell: ({ image_thumbnail }) => <Picture url={image_thumbnail} /> },
  {
    head: 'Collection',
    cell: ({ id, name }) => (
      <Link to="/collections/$collection" params={{ collection: id }}>
        <Long text={name} isCut />
      </Link>
    ),
  },
  { head: 'Shown', cell: (collection) => <Visibility of={collection} /> },
]
const HOW: Column<Collection> = { head: 'Products come', cell: membershipWords }
const FURTHER: readonly Column<Collection>[] = [
  { head: 'Order', cell: sortWords },
  { head: 'Products', cell: ({ product_count }) => product_count.toLocaleString(), isNumber: true },
  { head: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
]

const NEW = {
  body: [
    { name: 'name', label: 'Name', value: '', input: { required: true, maxLength: 255 } },
    { name: 'description', label: 'Description', value: '', isLong: true, input: { maxLength: 65536 } },
  ],
  tag: '',
}

/** The collections of the workspace, newest first; drafts too for those who may change them. */
export function CollectionsPage() {
  const navigate = useNavigate()
  const { list, isWhole } = useCollections()
  const collections = useList(['collections'], list)
  return (
    <Page
      title="Collections"
      actions={
        <OpenButton
          needs="product::create"
          className="primary"
          opens={(close) => (
            <Edit
              title="Add a collection"
              verb="Add collection"
              of={NEW}
              fieldsOf={(fields) => fields}
              save={async ({ all: { name = '', description } }) => {
                const body = { name, ...(description && { description }) }
                return bodyOf(api.POST('/v1/collections', { body }))
              }}
              done="The collection is added as a draft."
              changes={['collections']}
              onDone={(made) => made && navigate({ to: '/collections/$collection', params: { collection: made.id } })}
              onClose={close}
            >
              <p className="quiet">It begins as a draft. Then you pick its products, or say which rules gather them.</p>
            </Edit>
          )}
        >
          Add collection
        </OpenButton>
      }
    >
      <List
        of={collections}
        label="Collections"
        columns={[...SHOWN, ...(isWhole ? [HOW] : []), ...FURTHER]}
        empty={<Empty title="No collections">A collection shows products together, such as those of a season.</Empty>}
      />
    </Page>
  )
}
