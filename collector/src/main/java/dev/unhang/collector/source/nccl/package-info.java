/** What the ranks' own NCCL and PyTorch logs say of peers that do not answer. Only parsed fields leave this package. */
@NullMarked
package dev.unhang.collector.source.nccl;

import org.jspecify.annotations.NullMarked;
