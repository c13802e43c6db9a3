//! Many lists that grow in no order that a processor could foresee.

/// Items in front of each list, so that growing memory is touched seldom: fifteen places and their
/// number are one cache line.
const IN_FRONT: usize = 15;

/// Lists by number, of no more than so many items in all.
pub(super) struct Lists<T> {
    fronts: Vec<Front<T>>,
    behind: Vec<Vec<T>>,
    /// Items in `behind`.
    held: usize,
    most: usize,
}

#[derive(Clone)]
#[repr(align(64))]
struct Front<T> {
    items: [T; IN_FRONT],
    filled: u32,
}

impl<T: Copy> Lists<T> {
    /// So many lists of no more than `most` items in all; `item` is any item.
    pub(super) fn new(lists: usize, most: usize, item: T) -> Self {
        let front = Front { items: [item; IN_FRONT], filled: 0 };
        Self {
            fronts: vec![front; lists],
            behind: (0..lists).map(|_| Vec::new()).collect(),
            held: 0,
            most,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, list: usize, item: T) {
        let front = &mut self.fronts[list];
        let filled = front.filled as usize;
        front.items[filled] = item;
        front.filled = filled as u32 + 1;
        if filled + 1 == IN_FRONT {
            self.flush(list);
        }
    }

    /// Beyond `most` items nothing is kept but their number.
    #[inline(never)]
    fn flush(&mut self, list: usize) {
        let front = &mut self.fronts[list];
        let items = &front.items[..front.filled as usize];
        self.held += items.len();
        if self.held <= self.most {
            self.behind[list].extend_from_slice(items);
        }
        front.filled = 0;
    }

    /// The lists, unless they came to hold too many items; what is pushed next is added to them.
    pub(super) fn all(&mut self) -> Option<&mut Vec<Vec<T>>> {
        (0..self.behind.len()).for_each(|list| self.flush(list));
        (self.held <= self.most).then_some(&mut self.behind)
    }

    /// Empty all lists.
    pub(super) fn clear(&mut self) {
        self.fronts.iter_mut().for_each(|front| front.filled = 0);
        self.behind.iter_mut().for_each(Vec::clear);
        self.held = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn items_come_in_the_order_of_their_lists(
            pushed in proptest::collection::vec((0usize..3, any::<u32>()), 0..200),
            asked_after in 0usize..200,
            most in 0usize..200,
        ) {
            let mut lists = Lists::new(3, most, 0);
            for _ in 0..2 {
                let mut expected = vec![Vec::new(); 3];
                for (count, &(list, item)) in pushed.iter().enumerate() {
                    if count == asked_after {
                        let fits = count <= most;
                        prop_assert_eq!(lists.all(), fits.then_some(&mut expected));
                    }
                    lists.push(list, item);
                    expected[list].push(item);
                }
                let fits = pushed.len() <= most;
                prop_assert_eq!(lists.all(), fits.then_some(&mut expected));
                lists.clear();
            }
        }
    }
}
