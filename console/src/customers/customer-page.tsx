import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import { OpenButton } from '../parts/action.tsx'
import { Edit } from '../parts/edit.tsx'
import { Answer, Facts, Page, Section } from '../parts/page.tsx'
import { Id, Long, Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { fieldsOf, membersOf, nameOf, readCustomer } from './customer.ts'
import { CustomerOrders } from './customer-orders.tsx'
import { Erase, Erasure } from './erasure.tsx'

/** One customer and his orders; of one who is erased what is left. */
export function CustomerPage() {
  const { customer: id } = useParams({ from: '/customers/$customer' })
  const can = useCan()
  const found = useQuery({ queryKey: ['customers', id], queryFn: () => readCustomer(id) })
  const isGone = found.error instanceof ApiFailure && found.error.code === 'not_found'
  return (
    <Page
      title={isGone ? 'Customer' : found.data ? nameOf(found.data.body) : 'Customer'}
      above={<Link to="/customers">Customers</Link>}
      actions={
        found.data &&
        !isGone && (
          <>
            <OpenButton
              needs="customer::update"
              className="primary"
              opens={(close) => (
                <Edit
                  title="Edit customer"
                  of={found.data}
                  fieldsOf={fieldsOf}
                  read={() => readCustomer(id)}
                  save={({ changed }, tag) => {
                    const headers = { 'if-match': tag }
                    const body = membersOf(changed)
                    return bodyOf(api.PUT('/v1/customers/{id}', { params: { path: { id } }, headers, body }))
                  }}
                  done="The customer is saved."
                  changes={['customers', 'orders']}
                  onClose={close}
                />
              )}
            >
              Edit
            </OpenButton>
            <OpenButton
              needs="customer::delete"
              className="danger"
              opens={(close) => <Erase id={id} onClose={close} />}
            >
              Erase
            </OpenButton>
          </>
        )
      }
    >
      {isGone ? (
        <Erasure id={id} />
      ) : (
        <Answer of={found}>
          {({ body: customer }) => (
            <>
              <Section title="Details">
                <Facts
                  of={{
                    Name: nameOf(customer),
                    'E-mail': customer.email,
                    Phone: customer.phone,
                    Since: <Time at={customer.created_at} />,
                    Changed: <Time at={customer.updated_at} />,
                    Id: <Id id={customer.id} />,
                    Note: customer.note && <Long text={customer.note} />,
                  }}
                />
              </Section>
              {can('sale::read') && <CustomerOrders customer={id} />}
            </>
          )}
        </Answer>
      )}
    </Page>
  )
}
